// Building a kernel of Heddle's out of a loop's graph: inside core/triton only. native_body.cpp makes ops of the loop, native_memory.cpp
// loads, stores and their tensors, native_around.cpp what runs before and after the loop, native.cpp puts it together.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/triton/kernel/chain.h"
#include "core/triton/kernel/graph.h"
#include "core/triton/kernel/native.h"
#include "core/triton/kernel/scalars.h"
#include "core/triton/memory/memory.h"
#include "core/triton/read/flow.h"

namespace heddle::triton {

class NativeBuilder {
 public:
  NativeBuilder(const Program& program, const LoopSite& loop, Reading reading, Graph graph);
  Result<Native> build();

 private:
  enum class Part { Prologue, Body, Epilogue };

  // native_body.cpp
  void add_body();
  void add_chain(const std::vector<std::size_t>& members);
  void add_reduction(std::size_t node);
  void add_product(std::size_t node);
  void share_storage(const std::string& owner, const std::string& other);
  void order_accumulators();
  void add_tensor_move(std::size_t node);
  void add_shared_move(std::size_t node);
  Operand operand_of(const Source& source, bool memory);
  void emit_chain(Part part, const mlir::Op& op, const Chain& chain, const std::string& name, const std::vector<Operand>& inputs);
  bool joins(std::size_t chain) const;
  void find_joins();

  // native_memory.cpp
  void add_load(std::size_t node);
  void add_store(Part part, const mlir::Op& op, const std::string& name, const std::string& value);
  struct Box {
    std::string tensor;
    std::vector<std::string> at;
    bool transposed = false;  ///< the tile is held the other way round
  };
  static void put_box(TileOp& made, const Box& box);
  Box descriptor_box(const mlir::Op& op, std::size_t descriptor, const Type& tile, bool writes);
  Box pointer_box(const mlir::Op& op, const Type& tile, bool writes);
  std::string tensor_of(const std::string& name, const std::string& element, const std::vector<std::string>& shape, bool writes,
                        bool reads);
  void size_tensors();
  void size_pitches();
  void size_grid();
  Scope last_place(bool evaluation, const std::map<std::string, std::int64_t>& instead) const;
  void note_padding(const mlir::Op& op);
  void note_scalar_store(const mlir::Op& op);
  void order_memory();
  void add_index_work(std::size_t node);

  // native_around.cpp
  std::string outside(mlir::ValueId value, Part part);
  std::string make_outside(mlir::ValueId value, Part part);
  std::string outside_op(const mlir::Op& op, mlir::ValueId value, Part part);
  void ensure_initial(const std::string& value, mlir::ValueId initial);
  void add_epilogue();
  std::string tensor_state_outside(mlir::ValueId memdesc, mlir::ValueId token, Part part);

  // native.cpp
  TileOp& add_op(Part part, const mlir::Op& from, std::string name, std::string kind, std::vector<Operand> inputs,
                 std::vector<std::string> outputs);
  std::string add_value(const std::string& name, const Type& type, Space space, bool transposed = false);
  std::int64_t vector_registers(const Type& type, std::int64_t extent) const;
  std::string fresh_op(const std::string& name);
  void refuse(const mlir::Op& op, std::string why);
  void set_origin(const std::vector<std::size_t>& nodes, const mlir::Op& op);
  std::vector<std::int64_t> shape_of(const Type& type, bool transposed) const;
  bool transposed_view(mlir::ValueId value) const;
  const mlir::Op& op(std::size_t node) const { return program_.module->op(graph_.nodes[node].op); }
  const mlir::Op& op(mlir::OpId id) const { return program_.module->op(id); }
  const Type& result(const mlir::Op& op) const { return program_.type(op.results[0]); }
  std::size_t last_of(std::size_t node) const { return graph_.fused[graph_.nodes[node].fused].back(); }
  std::optional<std::size_t> node_of(mlir::OpId op) const;
  void set_costs();
  void add_tensor_rings();
  void name_dimensions();
  void cut_columns(const std::string& accumulator);
  bool beside_product(const Layout& layout) const;
  void link(const std::string& a, std::size_t dim_a, const std::string& b, std::size_t dim_b);
  void link_op(const TileOp& op);
  int root_of(int dim);

  const Program& program_;
  const LoopSite& loop_;
  const Reading reading_;
  Graph graph_;
  const Flow flow_;
  Scalars scalars_;
  Native native_;
  Error error_;
  bool row_vectors_ = false;  ///< no tile of two dimensions: vectors are rows
  std::map<mlir::OpId, std::size_t> nodes_;
  std::map<mlir::OpId, std::string> in_registers_, in_memory_;  ///< values that ops of the loop define
  std::map<mlir::ValueId, std::string> outside_;
  std::map<std::string, mlir::ValueId> initials_;                                    ///< of carried values
  std::map<mlir::ValueId, std::string> second_results_;                              ///< of ops that define two tiles
  std::map<mlir::OpId, std::vector<std::pair<mlir::OpId, mlir::ValueId>>> readers_;  ///< of loads: who reads them, by which operand
  std::map<std::size_t, std::string> load_names_;                                    ///< of the op that a load became
  std::map<std::string, bool> transposed_;                                           ///< values held the other way round
  std::set<std::string> op_names_, value_names_;
  std::map<std::size_t, std::size_t> joined_;        ///< node of a reduction -> chain that it computes too
  std::map<std::size_t, std::size_t> joined_chain_;  ///< the other way round
  std::map<std::string, Buffer> rings_;              ///< Triton's, by name of the load's result
  struct Shape {
    std::vector<std::int64_t> extents;
    std::vector<int> dims;
  };
  std::map<std::string, Shape> shapes_;
  std::vector<int> classes_;  ///< union-find over dimensions
  std::set<std::string> read_, written_;
  std::set<std::string> open_;  ///< outside values under construction
};

}  // namespace heddle::triton
