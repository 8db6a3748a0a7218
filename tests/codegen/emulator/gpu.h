// A block of Hopper on the CPU, enough to run the text of a generated kernel as C++: every thread is a fiber, and the PTX
// wrappers of the text are replaced by what the PTX ISA says they do - mbarriers, TMA with its 128-byte swizzle, wgmma with
// matrix descriptors and register fragments, stmatrix, shuffles, named barriers. wgmma finishes at once; TMA, and products in tensor
// memory, at once or as late as they can. Order and waiting are the interpreter's business, addresses and layouts are this one's.
#pragma once

#include "block.h"
#include "copies.h"
#include "files.h"
#include "shared_memory.h"
#include "tma.h"
#include "wgmma.h"
