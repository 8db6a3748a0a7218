// A kernel as its author wrote it: parameters, global tensors, grid, tile values, and three lists of tile instructions.
//
// The loop body is what gets scheduled; prologue and epilogue run once per tile before and after the loop. A value has one
// definition in the body (SSA). An operand with distance d > 0 reads the value of d iterations ago; in the first d
// iterations that is what the prologue defined under the same name. Values defined only in the prologue are loop
// invariants ("resident"). The epilogue reads the values of the last iteration.
//
// Sizes are expressions over parameters; coordinates may also use grid and loop variables. Coordinates, the trips of a tile, the grid and
// sizes of tensors may look up index tensors, whose contents belong to the kernel. Nothing here knows costs:
// core/problem combines a kernel with a machine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/expr.h"
#include "core/base/id.h"

namespace heddle {

enum class DType { F32, Bf16, F16, F8e4m3, F8e5m2, I32, I8, I4 };
enum class Space { Register, Smem, Tmem, Global };
/// Index: whole numbers that coordinates and trips look up; read only, like an input.
enum class TensorRole { Input, Output, InOut, Index };
inline bool is_written(TensorRole role) { return role == TensorRole::Output || role == TensorRole::InOut; }
/// The order of a tensor's bytes: row after row; packed (core/kernel/packed.h); or as whoever lays tiles out likes.
enum class Packing { Natural, Packed, Free };

int bits_of(DType dtype);
inline bool is_byte_float(DType type) { return type == DType::F8e4m3 || type == DType::F8e5m2; }
const char* to_string(DType dtype);
const char* to_string(Space space);
std::optional<DType> parse_dtype(std::string_view name);
std::optional<Space> parse_space(std::string_view name);

struct Param {
  std::string name;
  std::int64_t value = 0;                  ///< default
  std::optional<std::int64_t> eval_value;  ///< smaller value used by `heddle eval` when the user gives none
  std::vector<std::int64_t> choices;       ///< values a tuner may try; empty: any
  std::string about;
};

/// What must hold of the parameters for the kernel to compute what it says.
struct Condition {
  Expr expr;  ///< not 0
  std::string about;
};

/// Where the numbers of an index tensor come from (core/kernel/index_data.h).
struct IndexData {
  struct Call {
    std::string generator;
    std::vector<std::pair<std::string, Expr>> arguments;  ///< of the parameters
    std::string part;
  };
  std::string text;                   ///< as written; empty: `numbers`
  std::optional<Call> call;           ///< of a generator; else `text` is the name of a file
  std::vector<std::int64_t> numbers;  ///< in the kernel file itself
};

struct Tensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<Expr> shape;
  TensorRole role = TensorRole::Input;
  Packing packing = Packing::Natural;  ///< what it holds is the same
  // Of index tensors only.
  std::optional<IndexData> data{};
  std::optional<Expr> below{};  ///< all numbers are below it, and at least -1; absent: any 32-bit number of at least -1
  bool rising = false;          ///< no number is smaller than the one before it: row pointers
  std::optional<Expr> when{};   ///< of the parameters: where it is 0, the kernel has no such tensor (core/kernel/switches.h)
};

/// One grid dimension; its name is the block index variable in coordinates.
struct GridDim {
  std::string name;
  Expr size;
};

/// The scheduled loop: variable = 0 .. trips-1.
struct Loop {
  std::string variable = "i";
  Expr trips{1};
  /// Trips that are enough for one tile, of its block indices and of index tensors; 0 is possible. More of them, up to `trips`, change no
  /// result: what comes after is masked, or is read at -1, which gives zeros. Absent: `trips` for every tile.
  std::optional<Expr> tile_trips;
};

/// A tile held on chip.
struct TileValue {
  std::string name;
  DType dtype = DType::F32;
  std::vector<Expr> shape;
  Space space = Space::Register;
  /// Shares the storage of another value of the same space (P over S in tensor memory): costs no storage of its own, and
  /// that storage is reused only after this value's readers are done too.
  std::string alias_of;
  /// Where in that storage it begins: columns of tensor memory, bytes of shared memory. Values that do not overlap leave each other alone.
  Expr alias_at{0};
  /// Registers per thread where the layout makes it differ from size / threads (row statistics are replicated).
  std::optional<Expr> registers;
};

/// An axis whose order no result depends on, so that whoever lays tiles out may order it otherwise, wherever it goes
/// (core/kernel/free_axes.h).
struct FreeAxis {
  std::string name;   ///< as choices call it: "keys"
  std::string value;  ///< a tile that it is an axis of
  int dimension = 0;  ///< of that tile
};

struct Operand {
  std::string value;
  int distance = 0;  ///< iterations back
};

/// A literal attribute of a tile instruction ("transpose_b": true, "fn": "mul", "scale": "1.5").
using Attr = std::variant<bool, std::int64_t, std::string>;

struct UnitCost {
  std::string unit;
  Expr offset{0};
  Expr duration{1};
  Expr amount{1};
  Expr in_sum{0};  ///< cycles that count in the unit's sum of an iteration where they are more than `duration`; nothing excludes them
};

/// Plain numbers given by the graph instead of the machine's rule (imported graphs have nothing else).
struct CostOverride {
  std::optional<std::vector<UnitCost>> uses;
  std::optional<Expr> latency, window, warps;
  std::optional<bool> aligned, asynchronous, variable_latency;
  bool blocking = false;  ///< its warps do nothing else until its result is there: the window is as long as the latency
};

/// A tile instruction.
struct TileOp {
  std::string name;
  std::string kind;  ///< from the catalogue in core/kernel/op_kind.h
  std::vector<Operand> inputs;
  std::vector<std::string> outputs;  ///< values defined; empty for stores
  std::string tensor;                ///< global tensor read or written, for memory kinds
  std::vector<Expr> at;              ///< coordinates of the tile's first element in `tensor`
  std::map<std::string, Attr> attrs;
  std::optional<CostOverride> cost;
  std::optional<Expr> when{};  ///< of the parameters: where it is 0, the kernel has no such op (core/kernel/switches.h)

  /// The attribute of that name, where it is a T; null: it is none, or there is none.
  template <class T>
  const T* attr(const std::string& wanted) const {
    const auto found = attrs.find(wanted);
    return found == attrs.end() ? nullptr : std::get_if<T>(&found->second);
  }
};

/// An order between two body ops that no value expresses (memory order, tokens; all edges of a numbers-only graph).
struct OrderEdge {
  std::string from, to;
  std::optional<Expr> latency;  ///< default: latency of `from`
  int distance = 0;
  std::optional<Expr> handoff{};  ///< added when the two are in different groups; default: the machine's signal
};

/// A kernel before or after this one in the same call, bound by memory: only its time counts.
struct OtherKernel {
  std::string name;
  Expr bytes{0};  ///< to and from global memory, of the parameters
  std::string about;
};

struct Kernel {
  std::string name;
  std::string about;
  std::string source;  ///< the file it came from, for messages
  /// What `heddle eval` compares with: the name of a formula ("gemm", "attention_forward" ...) or one written out; empty: nothing.
  std::string reference;
  std::vector<Param> params;
  std::vector<Condition> conditions;
  std::vector<Tensor> tensors;
  std::vector<GridDim> grid;
  Loop loop;
  std::vector<TileValue> values;
  std::vector<FreeAxis> free;
  std::vector<TileOp> prologue, body, epilogue;
  std::vector<OrderEdge> order;
  std::vector<OtherKernel> around;
  /// Most warp groups (producer included) worth considering; the solver may use fewer.
  int max_groups = 3;
  /// Loads have a group of their own. False: any group may issue them beside its other work (no warp specialization).
  bool producer = true;
  /// As its file says it, where parameters turn ops or tensors on, and the conditions that do not hold: what is under those was left out
  /// (core/kernel/switches.h). Null: there are none, or all is there still.
  std::shared_ptr<const Kernel> whole{};
  std::vector<std::string> off{};

  const TileValue* find_value(std::string_view name) const;
  const Tensor* find_tensor(std::string_view name) const;
  const Param* find_param(std::string_view name) const;
};

}  // namespace heddle
