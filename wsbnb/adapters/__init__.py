"""At home elsewhere: thin wrappers for other packages, imported by those who use them.

- :mod:`wsbnb.adapters.river`: a policy as a bandit of river (needs river);
- :mod:`wsbnb.adapters.features`: a transformer of scikit-learn in front of a policy.
"""
