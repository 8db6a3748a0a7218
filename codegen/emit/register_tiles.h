// How values lie in the registers of a warpgroup, from the plan's layouts: what each thread has of a tile or a vector, in how many
// registers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/program/program.h"
#include "codegen/program/refusal.h"
#include "core/kernel/kernel.h"
#include "core/layout/plan.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::codegen {

/// How the kernel's tiles lie in the registers of a warpgroup (emit.h).
enum class TileKind {
  Fragments,   ///< as wgmma leaves its result: a thread has parts of two rows
  WarpRows,    ///< whole rows per warp; without mmas, on any architecture
  ThreadRows,  ///< a row per thread, as it reads a lane of tensor memory
};

/// What a thread has of a value.
struct ThreadTile {
  enum class Kind { Matrix, Rows, Columns };  ///< a tile; one number per row; one per column
  Kind kind = Kind::Matrix;
  int elements = 0;                 ///< per thread
  int columns = 0;                  ///< Matrix, but Fragments: per thread and row
  std::int64_t rows = 0, cols = 0;  ///< of the tile
  bool usual = true;                ///< as TileKind says; else its layout alone says where elements are
  /// Its elements are of the rows that TileKind says, one by one; the columns of these may be labelled otherwise.
  bool usual_rows = true;
};

struct TiledValue {
  std::vector<std::int64_t> shape;
  std::optional<ThreadTile> layout;  ///< registers only
  int bits = 32;                     ///< of an element
  int per_register = 1;              ///< elements: 2 of 16 bits, 4 of 8, 8 of 4
  bool packed = false;               ///< more than one of them
};

struct RegisterTiles {
  TileKind kind = TileKind::WarpRows;
  std::shared_ptr<const LayoutPlan> plan;  ///< how values lie and in which instructions ops are written
  std::vector<TiledValue> values;
  int lanes_of_row = 32;  ///< WarpRows: which share a row of every tile

  const char* type_of(std::size_t v) const { return values[v].packed ? "u32" : "float"; }
  int words_of(std::size_t v) const { return values[v].layout ? values[v].layout->elements / values[v].per_register : 0; }
  /// Of the piece that a step works on, where pieces have registers of their own.
  int pieces_of(const Step& step, std::size_t v) const {
    return kind == TileKind::ThreadRows && values[v].shape.size() == 2 ? step.piece.count : 1;
  }
  int words_of(const Step& step, std::size_t v) const { return words_of(v) / pieces_of(step, v); }
  int elements_of(const Step& step, std::size_t v) const { return values[v].layout->elements / pieces_of(step, v); }
  int rows_per_thread() const { return kind == TileKind::ThreadRows ? 1 : 2; }  ///< but WarpRows

  /// As the plan has it; null: not known.
  const Layout* layout_of(std::size_t value) const;
  /// Bytes of the span that is swizzled, 0 for none; nothing: it lies otherwise than in panels.
  std::optional<int> swizzle_of(std::size_t value) const;
  bool has_relabelled_rows(std::size_t value) const;
  /// Elements of both stand in the same registers, as far as is known.
  bool lies_alike(std::size_t a, std::size_t b) const;
  /// Element e of a tile takes from numbers per row that lie in registers: its index among them.
  std::string index_of_row(const ThreadTile& tile) const;
};

/// `refusals`: values that lie as no text can have them, or a problem without a plan.
RegisterTiles tiles_in_registers(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program,
                                 std::vector<Refusal>& refusals);

}  // namespace heddle::codegen
