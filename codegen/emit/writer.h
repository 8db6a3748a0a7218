// Inside emit_cuda(): the text while it is being written. For every architecture: writer.cpp has the frame and the roles, walk.cpp the
// loop over tiles, steps.cpp barriers and TMA, tile_ops.cpp what a role's threads compute element by element. What depends on how a tile
// lies in registers, and so on the architecture: register_tiles.cpp says how it lies, wgmma.cpp has Hopper's products, tensor.cpp those of
// Blackwell and tensor memory, warp_tiles.cpp and row_tiles.cpp what a thread does beyond its own elements.
#pragma once

#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codegen/emit/emit.h"
#include "codegen/emit/names.h"
#include "codegen/emit/product.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/packed.h"
#include "core/layout/plan.h"
#include "core/problem/costs.h"

namespace heddle::codegen {

/// Named barriers: 1 and up for the warps of a role, from here on for its turns; those who take and who pass meet.
inline constexpr int kFirstTurn = 8, kTurnThreads = 256;
/// The named barrier of all threads at which who gives tensor memory back waits for the others.
inline constexpr int kFreeing = 15;
inline constexpr std::int64_t kMostTiles = 1'000'000'000;
/// Bytes of a row as boxes move blocks of packed tensors; so many rows are a block.
inline constexpr int kPackedRow = 128, kRowsOfBlock = static_cast<int>(kPackedBytes) * 128 / kPackedRow;
/// Index of a cluster along the dimension in which its blocks are neighbours.
inline constexpr std::string_view kPairIndex = "pair";

/// Lines of their own around what belongs to a step, until the text is finished and they are taken out: parts of the text
/// are put together in another order than they are written in.
inline constexpr char kSpanBegins = '\x01', kSpanEnds = '\x02';

class Writer {
 public:
  Writer(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program)
      : kernel_(kernel), problem_(problem), schedule_(schedule), program_(program) {}

  EmitResult run();
  /// Before run(): its text records.
  void plan_records(Recording recording);

 private:
  /// How the kernel's tiles lie in the registers of a warpgroup (emit.h).
  enum class Tiles {
    Fragments,   ///< as wgmma leaves its result: a thread has parts of two rows
    WarpRows,    ///< whole rows per warp; without products, on any architecture
    ThreadRows,  ///< a row per thread, as it reads a lane of tensor memory
  };
  /// What a thread has of a value.
  struct Layout {
    enum class Kind { Matrix, Rows, Columns };  ///< a tile; one number per row; one per column
    Kind kind = Kind::Matrix;
    int elements = 0;                 ///< per thread
    int columns = 0;                  ///< Matrix, but Fragments: per thread and row
    std::int64_t rows = 0, cols = 0;  ///< of the tile
    bool usual = true;                ///< as Tiles says; else its layout alone says where elements are
    /// Its elements are of the rows that Tiles says, one by one; the columns of these may be labelled otherwise.
    bool usual_rows = true;
  };
  struct Value {
    std::vector<std::int64_t> shape;
    std::optional<Layout> layout;  ///< registers only
    int per_register = 1;          ///< elements: 2 of 16 bits, 4 of 8, 8 of 4
    bool packed = false;           ///< more than one of them
  };

  // ---- frame (writer.cpp)
  bool prepare();
  void allocate_tensor_memory();
  void free_tensor_memory(const Role& role);
  void write_head();
  void write_place_of(const Tensor& tensor, PackedOrder order);
  void write_kernel();
  void write_role(const Role& role, std::size_t index);
  /// A branch for each warpgroup; roles of one warp may share it.
  bool shares_branch(std::size_t role) const;
  void open_branch(const Role& role, std::size_t index);
  void close_branch(const Role& role, std::size_t index);
  void write_variables(const Role& role);
  std::string end_text(const Section& section, int passes_before = 0) const;  ///< the iteration that a loop stops before
  std::string passes_text(const Section& section, const Step& step) const;    ///< those passes that have the step
  void write_section(const Role& role, const Section& section);
  void write_skipping(const Section& section, const Step& step);
  /// The finished text without its marks.
  Emission unmarked();

  // ---- the loop over tiles (walk.cpp)
  void write_tile_numbers();
  void write_trips();
  void write_bounded_trips(const std::string& wanted);
  void write_walk();
  /// A running number of tiles as indices along these dimensions of the grid.
  void write_indices(const std::string& number, const std::vector<std::size_t>& dims);
  /// How the persistent loop walks over tiles: from which, in which steps, up to how many; those of a cluster count once.
  struct TileWalk {
    std::string_view index, count;
    std::int64_t tiles = 0;
  };
  TileWalk tile_walk() const;
  void write_tile_loop();
  /// Where tiles have trips of their own: from which block index they follow, and how.
  struct TripRule {
    std::size_t dim = 0;                              ///< of the grid
    std::int64_t slope = 1, offset = 0, divisor = 1;  ///< trips = (slope * index + offset) / divisor within the program's bounds
    bool longer_later = true;
  };
  std::optional<TripRule> trip_rule();
  /// Trips that are looked up, or follow several block indices, are computed as the kernel file says it.
  bool computes_trips() const { return program_.varies && !rule_; }

  // ---- places (index_text.cpp)
  /// Nothing where the text cannot say it. `texts` stand for the variables; none needs parentheses. Pre: index tensors are in the params.
  std::optional<std::string> index_text(const Expr::Node& node, const std::vector<std::string>& variables,
                                        const std::vector<std::string>& texts);
  std::optional<std::string> trips_text();
  std::string looked_up(const Expr::Node& node, const std::string& text);
  std::vector<std::string> tile_look_ups_;  ///< of this role: what n0, n1 ... are
  int branches_ = 0;                        ///< of `if`s, around what is being written
  int places_ = 0;                          ///< numbers of coordinates that are looked up
  bool wants_grouping() const;

  // ---- tiles in shared memory (shared_access.cpp)
  /// As the plan has it; null: not known.
  const heddle::Layout* layout_of(std::size_t value) const;
  /// Bytes of the span that is swizzled, 0 for none; nothing: it lies otherwise than in panels.
  std::optional<int> swizzle_of(std::size_t value) const;
  bool has_relabelled_rows(std::size_t value) const;
  /// Panels of a tile that TMA moves one by one.
  struct Panels {
    int count = 1, width = 0;
    std::int64_t rows = 1, bytes = 0;
    int swizzle = 0;          ///< bytes of a row: 128, 64, 32; 0: none
    bool relabelled = false;  ///< the order of rows is that of relabelled()
  };
  std::optional<Panels> panels_of(std::size_t value, const TileOp& op);
  void write_access(const Step& step, const TileOp& op, bool store);
  /// From the registers `from` to `to`, which lie as the plan's two accesses of the op say: other warps have what they need.
  void write_through_scratch(const Step& step, const TileOp& op, const std::string& from, const std::string& to);
  int handed_words(std::size_t value);
  void write_hand_over(const Step& step);
  void take_hand_over(const Step& step, std::size_t input);

  // ---- steps (steps.cpp)
  void write_step(const Step& step);
  void write_step_text(const Step& step);
  void write_load(const Step& step);
  void write_store(const Step& step);
  /// An iteration as it is written: "i - 1", "trips - 2", "7".
  std::string iteration_text(std::int64_t iteration) const;
  std::string barrier_text(std::size_t barrier, std::size_t cursor) const;
  std::string barrier_name(std::size_t barrier) const;
  std::string slot_text(const Place& place, std::string_view base = "smem") const;
  /// The same for a descriptor of a matrix, whose field has the address in the block only.
  std::string matrix_text(const Place& place) const;
  std::string register_text(const Place& place) const;
  void write_pair_load(const Step& step, const TileOp& op, Panels panels);
  /// "x + panel offset, y, z"
  static std::string with_panel(const std::vector<std::string>& at, int offset);
  std::size_t map_of(const TileOp& op, const Panels& panels);
  /// Coordinates innermost first; panel p begins p * width further.
  std::vector<std::string> coordinates(const Step& step, const TileOp& op) { return coordinates(step.op.list, step.iteration, op); }
  std::vector<std::string> coordinates(OpRef::List list, std::int64_t iteration, const TileOp& op);
  /// Of a load's box: the first one is rounded down where the step says so.
  std::vector<std::string> box_coordinates(const Step& step, const TileOp& op);
  /// The same of a box whose rows are relabelled, as map_of() splits them.
  std::vector<std::string> relabelled_coordinates(const TileOp& op, const std::vector<std::string>& at);
  /// Where what a step reads begins in its slot: behind its neighbours, if its load brings them along.
  std::string value_text(const Place& place);
  bool is_zero_fill(std::size_t value) const;
  bool writes_shared(const Step& step) const;
  static bool meets(const Step& step);
  /// All threads of the role wait for each other.
  std::string meeting(const TileOp& op);
  bool only_products_read(std::size_t empty_barrier) const;

  // ---- products on Hopper (wgmma.cpp)
  void write_product(const Step& step);
  std::int64_t span_of(std::size_t value) const;
  bool lies_in_spans(std::size_t value, std::initializer_list<int> spans, const TileOp& op);
  bool lies_as_operand(std::size_t value) const;
  void write_retire(const Step& step);
  bool is_positive(std::size_t value) const;
  const Place* made_before(const Step& turn) const;
  bool only_sums_read_init(const Step& fill) const;

  // ---- products and tensor memory on Blackwell (tensor.cpp)
  void write_tensor_product(const Step& step);
  void write_signal(const Step& step);
  void write_tensor_load(const Step& step, const TileOp& op);
  void write_tensor_store(const Step& step, const TileOp& op);
  void write_tensor_fill(const Step& step, const TileOp& op);
  void write_await_loads();
  /// Which a thread that has been elected issues for its role.
  bool elects(const Step& step) const;
  bool touches_tensor(const Step& step) const;
  /// Loads that no AwaitReads of the section follows.
  void carry_loads(const Section& section);
  /// Of a column of a value: "tensor + 64 + s0 * 256".
  std::string tensor_text(const char* base, const Place& place, int column) const;
  /// Calls write(width, first register) so that all are moved.
  template <class Write>
  void in_chunks(int registers, Write write);
  /// The steps from `first` on that bring a tile out of tensor memory, multiply it by numbers per row and bring it back; how many. None
  /// where the product is not said to be skippable.
  std::size_t rescale_at(const Section& section, std::size_t first) const;
  /// A tile of tensor memory, times a number per row, back where it was: some schedules have the three one after the other.
  bool can_rescale(const TileOp& op) const;
  /// Ops that ask to be skipped, and nowhere are: refused, or, where another schedule would have them skipped, named by the text's head.
  void judge_unskipped();
  /// A warp of factors that are all one has nothing to multiply.
  void open_rescale(const Section& section, std::size_t first);
  /// Of the pair's first block, since a role with products waits for it.
  bool is_leaders(std::size_t barrier) const;

  // ---- the recording build (records.cpp); without one these write nothing
  std::string record_head(const char* what) const;
  void begin_records(const Role& role);
  void record_loop(bool begins);
  void record_pass();
  void record_before(const Step& step);
  void record_after(const Step& step);
  void flush_records(const std::string& iteration);
  bool recording_ops() const;
  std::optional<std::pair<OpRef, std::int64_t>> load_behind(const Step& step) const;

  // ---- how tiles lie in registers (register_tiles.cpp)
  void lay_out_values();
  /// What is wrong with it, or nothing.
  std::string lay_out(std::size_t v, Value& value) const;
  /// Elements of both stand in the same registers, as far as is known.
  std::optional<heddle::Layout> usual_vector(bool rows, std::int64_t extent) const;
  bool lies_alike(std::size_t a, std::size_t b) const;
  bool lies_as_usual(const Step& step, const TileOp& op);
  /// Element e of a tile takes from numbers per row or per column that lie in registers: its index among them.
  std::string index_of_row(const Layout& tile) const;
  int rows_per_thread() const { return tiles_ == Tiles::ThreadRows ? 1 : 2; }  ///< but WarpRows

  // ---- what threads compute (tile_ops.cpp)
  void write_compute(const Step& step);
  void write_elements(const Step& step, const TileOp& op);
  /// Element e of a result, and what must be said before.
  struct ElementText {
    std::vector<std::string> before;
    std::string value;
  };
  void write_each_element(const Step& step, const TileOp& op, const std::string& to, const ElementText& text);
  /// What a vector operand runs along.
  std::int64_t axis_of(const Step& step, const TileOp& op, std::size_t input) const;
  // (convert.cpp)
  void write_convert(const Step& step, const TileOp& op);
  std::vector<std::string> take_group(DType type, const std::string& from, const std::string& first, int count);
  // (map_ops.cpp)
  void write_map(const Step& step, const TileOp& op);
  static ElementText map_text(const MapExpression& expression, const std::vector<std::string>& inputs);
  std::vector<std::string> place_text(const Step& step, const Layout& layout, bool rows, bool columns);
  /// Its results are powers, which are positive.
  static bool makes_powers(const TileOp& op);
  // (warp_tiles.cpp)
  void write_reduction(const Step& step, const TileOp& op);
  void write_mask(const Step& step, const TileOp& op);
  /// A running sum over rows that only what comes after the loop reads: each thread keeps the part of its own columns, and
  /// the parts are added up once, after the loop.
  bool is_lazy_sum(std::size_t value) const;
  void finish_lazy_sums(const Step& step);
  // (row_tiles.cpp)
  void write_row_reduction(const Step& step, const TileOp& op);
  void write_row_mask(const Step& step, const TileOp& op);
  // (global_loads.cpp)
  void write_global_load(const Step& step, const TileOp& op);
  /// Where a tile lies in a tensor, outermost dimension first: its first element, an element's offset as text of `row` and `column`, and
  /// what must hold where it can reach over the end.
  struct GlobalTile {
    std::vector<std::string> at;
    std::vector<std::int64_t> extents;
    std::string offset, inside;
  };
  /// `by_row`: a number per row; else `width` columns at once begin at multiples of that.
  std::optional<GlobalTile> global_tile(const Step& step, const TileOp& op, std::size_t tensor, bool by_row, std::int64_t width);
  bool loads_whole_vector(const Step& step, const TileOp& op);
  void write_whole_vector(const Step& step, const std::string& from);
  void write_vector_load(const Step& step, const TileOp& op, std::size_t tensor);
  void write_gather(const Step& step, const TileOp& op);
  /// The pointer that stands for a tensor in the text.
  std::string pointer_to(std::size_t tensor);
  /// An input as text for element i of a result; empty after a refusal.
  std::string element_text(const Step& step, const TileOp& op, std::size_t input, const Layout& result);
  /// The array of an input: a variable, or what has just been taken out of a hand-over buffer.
  std::string input_array(const Step& step, std::size_t input);
  void take_inputs(const Step& step, const TileOp& op);
  /// One number per row or column, in shared memory: f32, or 16 bits per row.
  bool is_smem_vector(const Step& step, const TileOp& op, std::size_t input) const;
  /// A vector of one element, which lies over all elements of a tile.
  bool is_one(const Place& place) const;
  /// The array that a result is computed into, and what makes it current.
  std::string begin_result(const Step& step);
  void end_result(const Step& step);

  // ---- text
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    text_ += std::string(static_cast<std::size_t>(indent_) * 2, ' ') + fmt::format(format, std::forward<T>(values)...) + "\n";
  }
  void raw(std::string_view words) { text_ += std::string(static_cast<std::size_t>(indent_) * 2, ' ') + std::string(words) + "\n"; }
  void refuse(std::string rule, const TileOp& op, std::string sentence);
  const char* type_of(std::size_t v) const { return values_[v].packed ? "u32" : "float"; }
  int words_of(std::size_t v) const { return values_[v].layout ? values_[v].layout->elements / values_[v].per_register : 0; }
  /// Of the piece that a step works on, where pieces have registers of their own.
  int pieces_of(const Step& step, std::size_t v) const {
    return tiles_ == Tiles::ThreadRows && values_[v].shape.size() == 2 ? step.piece.count : 1;
  }
  int words_of(const Step& step, std::size_t v) const { return words_of(v) / pieces_of(step, v); }
  int elements_of(const Step& step, std::size_t v) const { return values_[v].layout->elements / pieces_of(step, v); }
  std::string named(const TileOp& op) const { return safe_name(op.name); }

  const Kernel& kernel_;
  const Problem& problem_;
  const Schedule& schedule_;
  const Program& program_;
  std::vector<Refusal> refusals_;
  std::shared_ptr<const LayoutPlan> plan_;  ///< how values lie and in which instructions ops are written
  std::vector<Value> values_;
  Tiles tiles_ = Tiles::WarpRows;
  std::optional<TripRule> rule_;    ///< of a program whose trips vary
  std::vector<std::int64_t> grid_;  ///< of tiles, or of the clusters' tiles
  std::vector<std::string> grid_names_;
  std::vector<bool> grid_used_;  ///< by the role being written
  LaunchPlan launch_;
  std::set<ProductShape> shapes_;
  std::set<int> tensor_loads_, tensor_stores_;  ///< widths
  std::string text_;
  std::vector<SourceSpan> spans_;  ///< number k lies between the marks of k in text_
  int indent_ = 0;
  // the role being written
  const Role* role_ = nullptr;
  std::size_t role_index_ = 0;
  bool one_thread_ = false;
  std::set<std::string> skipped_;       ///< ops that are left out where all factors are one
  std::vector<std::string> unskipped_;  ///< ops that this schedule does not let be left out
  std::set<std::size_t> finished_sums_;
  const Section* section_ = nullptr;
  struct Flying {
    const Step* step;
    bool this_pass;
  };
  std::vector<const Step*> open_;
  std::deque<std::vector<Flying>> flying_;
  std::vector<Flying> unpinned_;      ///< complete, but ptxas does not know it before a wait for all
  const Step* unread_ = nullptr;      ///< powers of two that were computed and that nothing has read yet
  std::vector<const Step*> loading_;  ///< from tensor memory, into registers that nothing may read yet
  bool wrote_shared_ = false;         ///< since the role's last barrier, seen by none but its own threads
  std::optional<RecordPlan> records_;
  std::vector<RecordEvent> record_events_;   ///< of the next record
  std::vector<const Step*> record_open_;     ///< issued, not committed
  std::vector<const Step*> record_loading_;  ///< from tensor memory, not waited for
  std::deque<std::vector<const Step*>> record_flying_;
};

}  // namespace heddle::codegen
