#pragma once

/// The header of an operation lists its rungs in one macro, such as HEDDLE_SOFTMAX_RUNGS. Each row, `RUNG(name, ...)`,
/// says what the library and its tests know of a rung outside its kernel. Code that needs something of every rung
/// passes a macro of its own as RUNG. So kernels/softmax/launch.hpp declares the functions of the rungs, and
/// src/softmax/rungs.cpp makes the table of them. docs/add-a-kernel.md adds a row.

/// Makes enumerators of the names.
#define HEDDLE_ENUMERATOR(name, ...) name,
