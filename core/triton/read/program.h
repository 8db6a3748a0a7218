// A Triton kernel as its compiler prints it between two passes: which kernel, for which target, in which form, and the loops in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/mlir/module.h"
#include "core/triton/read/type.h"

namespace heddle::triton {

/// How far Triton's compiler had come when it printed the text.
enum class TextForm {
  Input,        ///< layouts and mmas chosen, nothing scheduled
  Scheduled,    ///< ops of a loop have `loop.stage` and `loop.cluster`
  Partitioned,  ///< ... and `ttg.partition`
  Specialized,  ///< `ttg.warp_specialize` regions with barriers between them
  Final,        ///< rings, barriers, prologue and epilogue: what Triton's cache keeps
};
const char* to_string(TextForm form);  ///< "scheduled"

/// Two ways to look at one text.
enum class TextReading {
  Triton,  ///< what Triton's passes can execute: on Hopper one stream of ops, rings of distance + 1, mmas that are waited for at once
  Free,    ///< Heddle's own model of the same computation: warp specialized, sub-tiled where needed
};
const char* to_string(TextReading reading);  ///< "triton", "free"
std::optional<TextReading> parse_reading(std::string_view word);

/// What the `.json` beside a text says; absent members were not there.
struct Metadata {
  std::string file;
  std::optional<std::int64_t> shared, num_warps, num_stages, num_ctas, tmem_size, target;
  std::string name, triton_version;
};

/// A loop of the function, `scf.for` or `scf.while`.
struct LoopSite {
  mlir::OpId op;
  int number = 0;            ///< in the order of the text, from 0: what FILE#LOOP says
  int depth = 0;             ///< loops around it
  int line = 0;              ///< of the text
  std::size_t ops = 0;       ///< without its terminator and what nested regions hold
  std::size_t tile_ops = 0;  ///< that compute, load or store tiles; views and index arithmetic are none
  std::size_t products = 0;
  bool scheduled = false;  ///< some op has a stage
  bool partitioned = false;
  std::int64_t num_stages = 0, max_stage = 0;  ///< as the loop's attributes say; 0: they do not
  bool wants_specialization = false;           ///< `tt.warp_specialize`
  std::string partition;                       ///< Specialized, Final: label of the region of `ttg.warp_specialize` it lies in; else empty
  std::string why_not;                         ///< why it cannot be a schedule problem ("it has no tile ops"); empty: it can
};

struct TritonProgram {
  std::shared_ptr<const mlir::Module> module;
  std::vector<Type> types;     ///< parallel to module->values
  std::vector<bool> data_ops;  ///< parallel to module->ops: integer arithmetic on data (core/triton/read/data.h)
  mlir::OpId function;
  std::string kernel;  ///< the function's name
  std::string file;    ///< as the user named it, without what follows #
  std::string pass;    ///< of a log: before which pass it was printed; else empty
  TextForm form = TextForm::Input;
  std::string backend = "cuda";
  int target = 90;  ///< compute capability times ten
  std::int64_t num_warps = 4, num_ctas = 1;
  std::vector<LoopSite> loops;
  Metadata metadata;

  const Type& type(mlir::ValueId value) const { return types[value.index()]; }
  const Type& operand_type(const mlir::Op& op, std::size_t index) const { return types[op.operands[index].index()]; }
};

/// The program of a parsed module; faults where there is no `tt.func` or `func.func` with a body, several of them, or a target that is no
/// NVIDIA GPU.
Result<TritonProgram> make_program(mlir::Module module, Metadata metadata = {}, std::string pass = {});

/// The loop to begin with: of those that can be a problem the innermost, of several such the one with most mmas, then most tile ops.
/// Null when there is none.
const LoopSite* usual_loop(const TritonProgram& program);
/// "#0 at line 65: 26 ops, 17 of tiles, 2 mmas" per loop, for messages.
std::string list_loops(const TritonProgram& program);

}  // namespace heddle::triton
