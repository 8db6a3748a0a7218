// Inside plan_layouts(): values first (plan.cpp), then what ops do with them (plan_ops.cpp).
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/known.h"
#include "core/layout/layout_store.h"
#include "core/layout/plan.h"

namespace heddle {

class Planner {
 public:
  Planner(const Kernel& kernel, const Scope& params, const Machine& machine, const LayoutChoices& choices, const std::string& file,
          std::vector<Fault>& faults);

  LayoutPlan run();

  /// Only how values lie, as objection() asks.
  void lay_out();
  /// Why values in shared memory cannot lie like this; empty: they can. Names who asks.
  std::string objection(std::size_t value, const Layout& layout);
  /// Instructions that an op of this kind could be written in, by kind of instruction; the default is not among them if it names none.
  static bool suits(const TileOp& op, const Instruction& row);

 private:
  using Shape = std::vector<std::int64_t>;

  // ---- values
  void find_family();
  void measure();
  void lay_out_values();
  void lay_out_registers(std::size_t v);
  void lay_out_shared(std::size_t v);
  /// Bytes of a row of the panels in which a tile lies by default.
  int usual_span(std::size_t v) const;
  /// Of what a transposing load makes, and of what a copy makes of that.
  std::optional<LayoutForm> quads_of(std::size_t v) const;
  /// Of a tile in shared memory: a copy brings it from a packed tensor, or takes it there; in registers: numbers of 4 bits that are loaded
  /// from there.
  std::optional<PackedOrder> packed_order(std::size_t v) const;
  bool is_packed(std::size_t v) const { return packed_order(v).has_value(); }
  /// Which tensors are packed: those that say so, and those that may be and were chosen to be.
  void find_packed();
  /// Why its tiles do not lie packed; empty: they can.
  std::string packing_objection(const Tensor& tensor) const;
  void put(std::size_t v, const LayoutKey& key, const char* otherwise);
  bool along_columns(std::size_t v) const;
  bool takes_by_column(const TileOp& op, std::size_t input) const;
  /// Free axes that were chosen to be in another order: of the results of products, and of what products read row by row.
  void order_axes();
  std::string order(const FreeAxis& axis);
  /// It is brought by TMA, or made of what is, and goes to an operand of a product as it is, by way of registers.
  bool feeds_operand(std::string_view value) const;
  /// Why what a product reads and what it makes are not ordered alike; empty: they are.
  std::string order_objection(const TileOp& op) const;
  void take_layouts();
  /// Register tiles that one op reads and writes element by element lie alike, and vectors as the tiles that they are laid over.
  std::string register_objection(std::size_t value) const;
  /// A vector in registers that the op lays over a tile, or makes of it: each number lies where its row or column does.
  struct Laid {
    std::size_t vector = 0, tile = 0;
    bool by_column = false;
  };
  std::vector<Laid> laid_by(const TileOp& op) const;

  // ---- ops
  void plan_ops();
  void plan_op(const TileOp& op);
  void plan_transfer(const TileOp& op, bool store);
  void plan_copy(const TileOp& op);
  void plan_change(const TileOp& op);
  /// Who wants the value to lie as it does, in words: of those who touch it, who makes it (`made`) or who reads it.
  std::string wish(std::size_t value, bool made) const;
  void plan_product(const TileOp& op);
  void plan_vectors(const TileOp& op);
  void plan_global(const TileOp& op);
  void take_instructions();
  std::string hand_over_objection(const TileOp& op, const Instruction& row) const;
  const InstructionChoice* chosen(const TileOp& op) const;
  /// The widest that fits, tried in this order; nothing fits: the first.
  InstructionChoice first_fitting(std::initializer_list<const char*> names, const std::shared_ptr<const Layout>& held,
                                  const std::shared_ptr<const Layout>& memory, int bits) const;
  AccessCost uncounted(std::size_t value, bool exchanged) const;

  void fault(std::string pointer, std::string message, std::string hint = {});
  std::size_t index_of(std::string_view name) const { return index_.at(name); }
  const TileValue& value(std::size_t v) const { return kernel_.values[v]; }
  int bits(std::size_t v) const { return bits_of(kernel_.values[v].dtype); }
  bool products() const { return plan_.family == LayoutPlan::Family::Products; }
  bool tensor_products() const { return plan_.family == LayoutPlan::Family::TensorProducts; }

  const Kernel& kernel_;
  const Scope& params_;
  const Machine& machine_;
  const LayoutChoices& choices_;
  const std::string& file_;
  std::vector<Fault>& faults_;
  LayoutPlan plan_;
  std::vector<Shape> shapes_;
  std::map<std::string_view, std::size_t> index_;
  std::int64_t rows_ = 0, columns_ = 0;  ///< of the tiles of a kernel without products
};

/// "wgmma of 'qk'", "TMA of 'load_k'".
std::string asker_of(const TileOp& op, bool tensor_products);
/// What a tile takes of the port if nobody meets: bytes / 128, rounded up.
std::int64_t port_of_bytes(std::int64_t bytes);

}  // namespace heddle
