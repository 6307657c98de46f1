"""Numba functions to a WebAssembly module, with Numba and llvmlite alone.

`module({name: (function, signature)})` returns the bytes. A function takes numbers and
pointers, makes arrays of the pointers with `numba.carray`, and allocates nothing. The
page provides memory and those functions of `Math` that the code calls.

Numba compiles for the machine it runs on, so `compiled_alone` must have been called
before Numba is imported: it asks for a processor without any speciality, and for no
vectors but those that the code names itself. On its way Numba writes each function once
in LLVM's language, almost the same for every processor. That text is all we take; no
machine code is made. LLVM, which can write WebAssembly, makes one object file of all
texts. An object file that is complete in itself lacks only a list of exports to be a
module.
"""

import gc
import os
import re
import sys

TRIPLE = "wasm32-unknown-unknown"
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
#: Functions that a page's `Math` has under the same name.
MATH = ("atan2", "cos", "exp", "log", "log1p", "pow", "sin")
#: How eagerly calls are replaced by what they call: a page must be small.
INLINE = 25
#: Sections of a module, by number.
CUSTOM, IMPORT, FUNCTION, EXPORT = 0, 2, 3, 7


def compiled_alone(scratch):
    """Tell Numba, not yet imported, to compile for no machine in particular."""
    if "numba" in sys.modules:
        raise RuntimeError("Numba is imported already: compile in a process of its own")
    os.environ.update(
        NUMBA_CPU_NAME="generic",
        NUMBA_CPU_FEATURES="",
        NUMBA_LOOP_VECTORIZE="0",
        NUMBA_SLP_VECTORIZE="0",
        NUMBA_CACHE_DIR=str(scratch),
        NUMBA_OPT="0",  # it would build sizes of the machine's pointers into the text
        NUMBA_DISABLE_JIT="0",
    )


def module(exports, options):
    """The bytes of a WebAssembly module; `options` are Numba's."""
    gc.disable()  # a third of the time; the process is a short one
    texts, symbols = written(exports, options)
    texts += [COUNTERS, *(_door(n, symbols[n], exports[n][1]) for n in exports)]
    return with_exports(as_object(map(portable, texts), list(exports)), list(exports))


# --- what Numba makes -----------------------------------------------------------------

#: Nobody owns an array of `carray`: there are no references to count.
COUNTERS = """
define void @NRT_incref(ptr %p) { ret void }
define void @NRT_decref(ptr %p) { ret void }
"""
#: What only an interpreter needs: its doors, and the real counters.
LEFT_OUT = ("nrt_module", "cfunc_wrapper", "wrapper")


def written(exports, options):
    """LLVM's texts of the functions and of all that they call, each once; and symbols.

    Numba hands each text to a "library", which would link, improve and run it. Three
    of its methods are replaced for the rest of this process, so that it only writes.
    """
    import numba
    from numba.core import cgutils, codegen, cpu

    texts = []

    def keep(library, part):
        if part.name not in LEFT_OUT:
            texts.append(cgutils.normalize_ir_text(str(part)))

    def finish(library):
        library._finalized = True

    library = codegen.CPUCodeLibrary
    library.add_ir_module, library.finalize = keep, finish
    cpu.CPUContext.get_executable = lambda *_: (
        [].append
    )  # has to be one, is never called
    wish = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)
    symbols = {}
    for name, (function, signature) in exports.items():
        made = wish(function)
        made.compile(signature)
        symbols[name] = made.overloads[signature.args].fndesc.mangled_name
    return texts, symbols


def portable(text):
    """The same for no machine in particular."""
    text = re.sub(r"^target (triple|datalayout).*$", "", text, flags=re.M)
    text = text.replace(" = common global", " = internal global")
    return f'target triple = "{TRIPLE}"\ntarget datalayout = "{LAYOUT}"\n{text}'


def _door(name, target, signature):
    """A function of our name around Numba's: result as a value, status left aside."""
    kinds = [_kind(kind) for kind in signature.args]
    result = _kind(signature.return_type)
    inside = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    return f"""
declare i32 @"{target}"(ptr, ptr, {", ".join(kinds)})
define {result} @{name}({inside}) {{
  %result = alloca {result}
  %exception = alloca ptr
  %status = call i32 @"{target}"(ptr %result, ptr %exception, {inside})
  %value = load {result}, ptr %result
  ret {result} %value
}}
"""


def _kind(kind):
    from numba import types

    if isinstance(kind, types.CPointer):
        return "ptr"
    return {types.float64: "double", types.int32: "i32"}[kind]


# --- what LLVM makes ------------------------------------------------------------------


def as_object(texts, names):
    """One object file for WebAssembly from several texts."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    whole = llvm.parse_assembly(portable(""))
    for text in texts:
        whole.link_in(llvm.parse_assembly(text))
    whole.verify()
    for function in whole.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name in names else "internal"
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        opt=2, features="+simd128", reloc="static", codemodel="default"
    )
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = False
    options.inlining_threshold = INLINE
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(whole, builder)
    return machine.emit_object(whole)


# --- the file -------------------------------------------------------------------------


def with_exports(binary, names):
    """Add the list of exports to an object file and leave its custom parts out.

    Our functions are the last of the linking symbol table's defined ones by name; the
    table is a custom section, which is where their numbers are read.
    """
    parts = list(sections(binary))
    numbers = function_numbers(parts)
    imports = [part for number, part in parts if number == IMPORT]
    check_imports(imports[0] if imports else b"")
    listed = [_word(name) + b"\0" + uleb(numbers[name]) for name in names]
    export = uleb(len(listed)) + b"".join(listed)
    kept = [(number, part) for number, part in parts if number != CUSTOM]
    place = next(i for i, (number, _) in enumerate(kept) if number > EXPORT)
    kept.insert(place, (EXPORT, export))
    body = b"".join(bytes([n]) + uleb(len(part)) + part for n, part in kept)
    return binary[:8] + body


def sections(binary):
    """The numbered parts of a module."""
    at = 8
    while at < len(binary):
        number = binary[at]
        length, at = read_uleb(binary, at + 1)
        yield number, binary[at : at + length]
        at += length


def function_numbers(parts):
    """Names of defined functions and their numbers, from the custom part "linking"."""
    table = next(p for n, p in parts if n == CUSTOM and p[1:8] == b"linking")
    _, at = read_uleb(table, 8)  # the version
    numbers = {}
    while at < len(table):
        kind = table[at]
        length, at = read_uleb(table, at + 1)
        if kind == 8:  # the symbol table
            numbers.update(_symbols(table[at : at + length]))
        at += length
    return numbers


def _symbols(table):
    count, at = read_uleb(table, 0)
    for _ in range(count):
        kind, at = table[at], at + 1
        flags, at = read_uleb(table, at)
        undefined, explicit = flags & 0x10, flags & 0x40
        if kind in (0, 2, 4, 5):  # function, global, event, table
            number, at = read_uleb(table, at)
            name = None
            if not undefined or explicit:
                name, at = _read_word(table, at)
            if kind == 0 and not undefined:
                yield name, number
        elif kind == 1:  # data
            _, at = _read_word(table, at)
            if not undefined:
                for _ in range(3):
                    _, at = read_uleb(table, at)
        else:  # a section
            _, at = read_uleb(table, at)


def imported(part):
    """Names in the import section, with their kind (0: function, 2: memory, ...)."""
    count, at = read_uleb(part, 0) if part else (0, 0)
    for _ in range(count):
        _, at = _read_word(part, at)
        name, at = _read_word(part, at)
        kind, at = part[at], at + 1
        if kind == 0:
            _, at = read_uleb(part, at)
        elif kind in (1, 2):
            at += kind == 1  # the type of a table's entries
            limits, at = part[at], at + 1
            for _ in range(1 + (limits & 1)):
                _, at = read_uleb(part, at)
        else:
            at += 2
        yield name, kind


def check_imports(part):
    """Refuse a module that wants more than memory and mathematics."""
    known = {*MATH, "__linear_memory", "__stack_pointer"}
    strange = [name for name, _ in imported(part) if name not in known]
    if strange:
        raise ValueError(
            f"the module would need {sorted(strange)}: no page has them. An allocation "
            "(np.empty), LAPACK (np.linalg) or an exception is on the way"
        )


def uleb(number):
    """A whole number as the format writes it, seven bits a byte."""
    out = b""
    while True:
        number, low = number >> 7, number & 127
        out += bytes([low | (128 if number else 0)])
        if not number:
            return out


def read_uleb(binary, at):
    """The number at a place, and the place behind it."""
    value = shift = 0
    while True:
        byte = binary[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _word(text):
    return uleb(len(text)) + text.encode()


def _read_word(binary, at):
    length, at = read_uleb(binary, at)
    return binary[at : at + length].decode(), at + length
