// The layout of every value of a kernel and the instruction of every op, on a machine: what was chosen, and for what was not, the
// default.
//
// Defaults. With wgmma a register tile lies as the accumulator ("accumulator"), shared tiles are "panels 128"; with tcgen05 a thread
// has a row ("thread_rows"), shared tiles the same panels; without products a warp has whole rows ("warp_rows"), shared tiles "panels 0".
// Vectors lie as what they are laid over, without the other dimension. Tiles go to shared memory by stmatrix.x4 (16 bits) or st.shared.8
// with lane bit 2 exchanging register bit 3 (32 bits) from accumulators, by st.shared.16 from rows; back by ld.shared.16. What one group
// hands to another goes word by word, thread by thread. An 8-bit tile that a load transposes lies as "quads_down", and what a copy makes of
// it as "quads_across". A copy or conversion between layouts of which one has elements in other warps goes
// through shared memory: in the panels, and by the instructions, that take the fewest cycles of the port.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/kernel/packed.h"
#include "core/layout/access.h"
#include "core/layout/choices.h"
#include "core/layout/layout.h"
#include "core/layout/port_cost.h"
#include "core/machine/machine.h"

namespace heddle {

struct ValuePlan {
  std::shared_ptr<const Layout> layout;  ///< null: not known (a shape that no known layout fits; tensor memory); shared by equal values
  std::string text;                      ///< as layout_text() says it; empty: not known
  bool chosen = false;                   ///< by a file, a person or the solver, else the default
  std::string unknown;                   ///< why it is not known: "has a shape that is spread over threads in no known way"
};

/// How an op meets one value in shared memory.
struct OpAccess {
  std::size_t value = 0;      ///< of the kernel: the one in shared memory; with `scratch`, the one that passes through it
  std::size_t registers = 0;  ///< of the kernel: the one in registers
  bool store = false;
  bool charged = true;  ///< its port cycles are the op's cost; small vectors that arithmetic reads on the way are counted, not charged
  int bits = 16;        ///< of an element
  /// What the threads hold of it: the layout of `registers`, of a vector that is laid over a tile without the tile's other dimension. Null
  /// for copies and products, which no thread reads or writes.
  std::shared_ptr<const Layout> held;
  /// How the tile lies in memory where no value does: in that of a change of layout (OpPlan::scratch_bytes). Null: as `value`.
  std::shared_ptr<const Layout> scratch;
  /// What a load finds that transposes: the value's layout, with rows for columns. Null: as `value`.
  std::shared_ptr<const Layout> turned;
  std::optional<PackedOrder> packed;      ///< of a copy: how its tensor, and so the tile, is packed
  std::shared_ptr<const Instruction> by;  ///< null: none is known
  LaneExchange exchange;
  AccessCost cost;
};

/// A copy or conversion to registers that lie otherwise.
struct LayoutChange {
  std::size_t from = 0, to = 0;  ///< of the kernel
  int bits = 32;                 ///< of an element on its way: narrower types are put together first, wherever elements then go
  ConversionClass kind = ConversionClass::Same;
  std::int64_t shuffles = 0;  ///< instructions of all warps; each counts as a cycle of the port
};

struct OpPlan {
  InstructionChoice instruction;  ///< empty name: the op needs none, or none is known
  bool chosen = false;
  std::vector<OpAccess> accesses;
  std::string unknown;  ///< why an access is not: "'x' has a shape that is spread over threads in no known way"
  /// What the cost rule's `port`, `port_least`, `issues` and `selects` are: the charged accesses added up. Not known: as if no lanes met.
  AccessCost cost;
  /// The problem's op reserves the port as its rule says of `cost`: the rule names `port`, and no number of it was given or changed.
  bool priced = false;
  std::optional<ProductSize> product;
  std::optional<LayoutChange> change;
  /// A copy or conversion whose elements go to other warps: bytes of shared memory that the tile takes on its way, in a layout that no
  /// value has. Its two accesses say how it gets there and from there. 0: it needs none.
  std::int64_t scratch_bytes = 0;

  const AccessCost& charged() const { return cost; }
};

struct LayoutPlan {
  enum class Family { Products, TensorProducts, Rows, None };  ///< wgmma; tcgen05; no products; no machine that anything is written for
  Family family = Family::None;
  std::vector<ValuePlan> values;                           ///< as the kernel's
  std::map<std::string, PackedOrder, std::less<>> packed;  ///< tensors whose bytes, and tiles in shared memory, are packed
  std::map<std::string, OpPlan, std::less<>> ops;          ///< of all three lists, those that meet shared memory or choose an instruction
  LayoutChoices choices;                                   ///< that it was made with

  const OpPlan* find(std::string_view op) const;
  /// Null: not known.
  const std::shared_ptr<const Layout>& memory_of(const OpAccess& access) const {
    return access.scratch ? access.scratch : access.turned ? access.turned : values[access.value].layout;
  }
  /// Of all its ops. Groups take no more, whoever is in them.
  std::int64_t scratch_bytes() const;
};

/// Pre: `params` holds every parameter, and extents are sane. Choices that do not exist or do not fit are faults at
/// "/layouts/VALUE" and "/instructions/OP"; where there are any, the plan has the default instead.
LayoutPlan plan_layouts(const Kernel& kernel, const Scope& params, const Machine& machine, const LayoutChoices& choices,
                        std::vector<Fault>& faults);

/// In which a tensor's bytes can be, as choices say it; natural first.
std::vector<std::string> orders_of(const Tensor& tensor);

/// TMA moves a tile of a tensor by it.
bool is_copy(const TileOp& op);
/// The tile. Pre: it is a copy, with the operands of its kind.
const std::string& tile_of_copy(const TileOp& copy);

/// What could be chosen instead, for one op that moves a tile between registers and shared memory: every layout of the memory with every
/// instruction of the catalogue that fits both. The one in force first.
struct LayoutAlternative {
  std::string layout;  ///< of the value in shared memory, as text
  InstructionChoice instruction;
  AccessCost cost;
  std::int64_t bytes = 0;  ///< of the tile in memory, padding included
  int registers = 0;       ///< per thread, beyond the tile's own
  bool current = false;
  std::string refused;  ///< why it cannot be: "wgmma reads it: rows of 128 bytes or less in panels"; empty: it can
};
std::vector<LayoutAlternative> alternatives_of(const Kernel& kernel, const Scope& params, const Machine& machine, const LayoutPlan& plan,
                                               const std::string& op);

/// In what the op's registers are stored for another group: what was chosen for it, else "st.shared.4".
std::string_view hand_over_instruction(const LayoutPlan* plan, std::string_view op);

}  // namespace heddle
