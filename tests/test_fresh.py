"""The bank on fresh trials: how the run is kept."""

import pandas as pd

from wsbnb.paper import fresh


def by_hand():
    keys = [("Change points", "default"), ("WSB-LinTS", "hindsight")]
    values = {"a": ([2.0, 4.0], [4.0, 8.0]), "b": ([6.0, 6.0], [3.0, 3.0])}
    return pd.DataFrame(
        {"world": world, "policy": name, "choice": choice, "r0": r[0], "r1": r[1]}
        for world, pair in values.items()
        for (name, choice), r in zip(keys, pair, strict=True)
    )


def test_worlds_in_the_file_are_not_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(fresh, "WORLDS", {name: None for name in ("a", "b")})
    by_hand().query("world == 'a'").to_csv(tmp_path / "rows.csv", index=False)
    asked = []

    def play(world):
        asked.append(world)
        return by_hand().query("world == @world")

    monkeypatch.setattr(fresh, "play_fresh", play)
    found = fresh.record_fresh(tmp_path / "rows.csv")
    assert asked == ["b"] and list(found["world"].unique()) == ["a", "b"]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "rows.csv"), found)
