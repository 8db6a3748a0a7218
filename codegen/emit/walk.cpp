#include "codegen/emit/walk.h"

#include <algorithm>
#include <numeric>

#include "codegen/emit/index_text.h"
#include "core/kernel/op_kind.h"

namespace heddle::codegen {
namespace {

constexpr int kGroupedRows = 16;  ///< rows of tiles that are walked together, so that their panels stay in L2
constexpr int kGroupedTiles = 8;  ///< of equal length that are walked together: their heads' keys and values stay in L2
constexpr std::int64_t kLargeSize = 1 << 20, kLaterTile = 1 << 10;
/// Index of a cluster along the dimension in which its blocks are neighbours.
constexpr std::string_view kPairIndex = "pair";
constexpr std::int64_t kMostVaried = 100'000, kMostDivisor = 64, kMostSlope = 64;  ///< of rounded lines that are looked for

bool wants_grouping(const EmitContext& emit) {
  const WalkedGrid& grid = emit.grid;
  const auto reaches = [&](std::size_t d, std::int64_t least) { return !grid.fields[d].empty() || grid.sizes[d] >= least; };
  if (grid.sizes.size() != 2 || !reaches(0, kGroupedRows) || !reaches(1, 2)) return false;
  // Some loads follow one grid dimension only and some the other: panels of both are worth keeping.
  bool by[2] = {false, false};
  for (const TileOp& op : emit.kernel.body) {
    if (op.kind != "tma_load" && !is_async_load(op)) continue;
    bool uses[2] = {false, false};
    for (const Expr& at : op.at)
      for (const std::string& name : at.names())
        for (int d = 0; d < 2; ++d) uses[d] = uses[d] || name == emit.kernel.grid[static_cast<std::size_t>(d)].name;
    if (uses[0] != uses[1]) by[uses[0] ? 0 : 1] = true;
  }
  return by[0] && by[1];
}

/// The grid's indices of the loop's tile, each by its name where it is used.
class TileNumbers {
 public:
  TileNumbers(EmitContext& emit, std::vector<bool> used) : emit_(emit), grid_(emit.grid), names_(emit.grid.names), used_(std::move(used)) {}

  void write() {
    const Program& program = emit_.program;
    // Blocks of a cluster are neighbours along one dimension.
    if (program.cluster > 1) names_[program.cluster_dim < names_.size() ? program.cluster_dim : 0] = kPairIndex;
    write_walk();
    if (program.cluster > 1 && used_[program.cluster_dim])
      emit_.text.line("const int {} = {} * {} + rank;", grid_.names[program.cluster_dim], kPairIndex, program.cluster);
  }

 private:
  void write_walk() {
    const auto& rule = grid_.rule;
    if (rule && grid_.sizes.size() >= 2) {
      std::vector<std::size_t> others;
      for (std::size_t d = 0; d < grid_.sizes.size(); ++d)
        if (d != rule->dim) others.push_back(d);
      const std::string other = others.size() == 1 ? names_[others[0]] : "other", group = times(kGroupedTiles, {rule->dim});
      emit_.text.line("const int first = tile / {} * {}, width = min({}, {} - first), inside = tile % {};", group, kGroupedTiles,
                      kGroupedTiles, times(1, others), group);
      const std::string& field = grid_.fields[rule->dim];
      const std::string last = field.empty() ? fmt::format("{}", grid_.sizes[rule->dim] - 1) : field + " - 1";
      emit_.text.line("const int {} = {}, {} = first + inside % width;  // long tiles first", names_[rule->dim],
                      rule->longer_later ? last + " - inside / width" : std::string("inside / width"), other);
      if (others.size() > 1) write_indices(other, others);
      return;
    }
    if (wants_grouping(emit_)) {
      const std::string group = times(kGroupedRows, {1});
      emit_.text.line("const int group = tile / {}, first = group * {}, rows = min({}, {} - first), inside = tile % {};", group,
                      kGroupedRows, kGroupedRows, times(1, {0}), group);
      emit_.text.line("const int {} = first + inside % rows, {} = inside / rows;", names_[0], names_[1]);
      return;
    }
    std::vector<std::size_t> all(grid_.sizes.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    write_indices("tile", all);
  }

  /// A running number of tiles as indices along these dimensions of the grid.
  void write_indices(const std::string& number, const std::vector<std::size_t>& dims) {
    std::vector<std::size_t> before;
    for (const std::size_t d : dims) {
      const std::string stride = times(1, before), whole = stride == "1" ? number : fmt::format("{} / {}", number, stride);
      if (used_[d])
        emit_.text.line("const int {} = {};", names_[d], d != dims.back() ? fmt::format("{} % {}", whole, times(1, {d})) : whole);
      before.push_back(d);
    }
  }

  /// The number times the sizes along these dimensions; needs no parentheses.
  std::string times(std::int64_t number, const std::vector<std::size_t>& dims) const {
    std::string fields;
    for (const std::size_t d : dims) {
      const std::string& field = grid_.fields[d];
      if (field.empty())
        number *= grid_.sizes[d];
      else
        fields += (fields.empty() ? "" : " * ") + field;
    }
    if (fields.empty()) return fmt::format("{}", number);
    if (number != 1) fields = fmt::format("{} * {}", number, fields);
    return fields.find(' ') == std::string::npos ? fields : "(" + fields + ")";
  }

  EmitContext& emit_;
  const WalkedGrid& grid_;
  std::vector<std::string> names_;
  const std::vector<bool> used_;
};

void write_bounded_trips(EmitContext& emit, const std::string& wanted) {
  if (emit.launch.sizes) {
    if (!emit.kernel.loop.tile_trips) return emit.text.line("const int trips = {};", emit.grid.trips);
    const std::string bounded = fmt::format("max({}, min({}, {}))", emit.program.least_trips, emit.grid.trips, wanted);
    const std::int64_t step = emit.program.trip_step;
    return step == 1 ? emit.text.line("const int trips = {};", bounded)
                     : emit.text.line("const int trips = ({} + {}) / {} * {};", bounded, step - 1, step, step);
  }
  const std::string bounded = fmt::format("max({}, min({}, {}))", emit.program.least_trips, emit.program.trips, wanted);
  if (emit.program.trip_step == 1)
    emit.text.line("const int trips = {};", bounded);
  else
    emit.text.line("const int trips = {0} - ({0} - {1}) / {2} * {2};", emit.program.trips, bounded, emit.program.trip_step);
}

void write_trips(EmitContext& emit) {
  const std::string index = emit.program.cluster > 1 && emit.grid.rule->dim == emit.program.cluster_dim
                                ? std::string(kPairIndex)
                                : emit.grid.names[emit.grid.rule->dim];
  const std::string wanted = affine_text({emit.grid.rule->offset, {emit.grid.rule->slope}}, {index});
  write_bounded_trips(emit, emit.grid.rule->divisor > 1 ? fmt::format("({}) / {}", wanted, emit.grid.rule->divisor) : wanted);
}

/// Which tiles are long, as with all sizes large and alike; the text computes how long.
std::optional<TripRule> rule_for_sizes(EmitContext& emit, std::size_t dim) {
  Scope scope = emit.program.params;
  for (const std::string& size : emit.program.sizes) scope[size] = kLargeSize;
  for (const GridDim& other : emit.kernel.grid) scope[other.name] = 0;
  const auto first = emit.kernel.loop.tile_trips->evaluate(scope);
  scope[emit.kernel.grid[dim].name] = kLaterTile;
  const auto later = emit.kernel.loop.tile_trips->evaluate(scope);
  TripRule rule{.dim = dim, .fitted = false};
  rule.longer_later = !first.ok() || !later.ok() || *later >= *first;
  return rule;
}

}  // namespace

TileWalk tile_walk(const EmitContext& emit) {
  const std::string tiles = emit.grid.tiles.empty() ? fmt::format("{}", emit.launch.tiles / emit.program.cluster) : emit.grid.tiles;
  if (emit.program.cluster > 1) return {"cluster", "clusters", tiles};
  return {"blockIdx.x", "gridDim.x", tiles};
}

std::optional<TripRule> trip_rule(EmitContext& emit) {
  const auto no = [&](const char* why) -> std::optional<TripRule> {
    emit.refusals.push_back({"tile_trips", {}, fmt::format("the trips of a tile {}", why), std::nullopt});
    return std::nullopt;
  };
  if (!emit.kernel.loop.tile_trips) return std::nullopt;
  TripRule rule;
  const auto names = emit.kernel.loop.tile_trips->names();
  int used = 0;
  for (std::size_t d = 0; d < emit.kernel.grid.size(); ++d)
    if (std::find(names.begin(), names.end(), emit.kernel.grid[d].name) != names.end()) rule.dim = d, ++used;
  if (used > 1 || !emit.kernel.loop.tile_trips->tables().empty()) {
    if (emit.program.cluster > 1)
      return no("are looked up, or follow more than one block index, and all blocks of a cluster run as many trips");
    if (!trips_text(emit, emit.grid.names)) return no("cannot be computed by the kernel");
    return std::nullopt;
  }
  if (emit.launch.sizes) return used == 0 ? std::nullopt : rule_for_sizes(emit, rule.dim);
  if (emit.grid.sizes.empty() || emit.grid.sizes[rule.dim] > kMostVaried) return no("follow no block index, or one of too many");
  std::vector<std::int64_t> wanted;
  Scope scope = emit.program.params;
  for (const GridDim& dim : emit.kernel.grid) scope[dim.name] = 0;
  // Blocks of a cluster go through their loops together: as often as the one of them that needs most.
  const std::int64_t together = emit.program.cluster > 1 && rule.dim == emit.program.cluster_dim ? emit.program.cluster : 1;
  for (std::int64_t g = 0; g < emit.grid.sizes[rule.dim]; ++g) {
    std::int64_t most = emit.program.least_trips;
    for (std::int64_t block = 0; block < together; ++block) {
      scope[emit.kernel.grid[rule.dim].name] = g * together + block;
      const auto number = emit.kernel.loop.tile_trips->evaluate(scope);
      if (!number.ok()) return no("cannot be computed");
      most = std::max(most, *number);
    }
    wanted.push_back(std::min(most, emit.program.trips));
  }
  rule.longer_later = wanted.back() >= wanted.front();
  // The rounded line through all of them with the smallest numbers. `offset` follows from the indices between the bounds.
  const auto at = [&](const TripRule& r, std::int64_t g) {
    return std::clamp((r.slope * g + r.offset) / r.divisor, emit.program.least_trips, emit.program.trips);
  };
  for (rule.divisor = 1; rule.divisor <= kMostDivisor; ++rule.divisor)
    for (rule.slope = -kMostSlope; rule.slope <= kMostSlope; ++rule.slope) {
      std::int64_t low = -kMostTiles, high = kMostTiles;
      for (std::size_t g = 0; g < wanted.size(); ++g) {
        const std::int64_t whole = wanted[g] * rule.divisor - rule.slope * static_cast<std::int64_t>(g);
        if (wanted[g] > emit.program.least_trips) low = std::max(low, whole);
        if (wanted[g] < emit.program.trips) high = std::min(high, whole + rule.divisor - 1);
      }
      if (low > high) continue;
      rule.offset = std::clamp<std::int64_t>(0, low, high);
      bool fits = true;
      for (std::size_t g = 0; g < wanted.size() && fits; ++g) fits = at(rule, static_cast<std::int64_t>(g)) == wanted[g];
      if (fits) return rule;
    }
  return no("are no rounded multiple of a block index");
}

/// Tiles of different lengths: the long ones come first, and every second round goes back and forth, so that each block
/// gets as much as any other.
void write_tile_loop(EmitContext& emit) {
  const auto [index, count, tiles] = tile_walk(emit);
  if (!emit.grid.rule) {
    emit.text.open("for (int tile = {}; tile < {}; tile += {}) {{{}", index, tiles, count,
                   emit.program.cluster > 1 ? "  // of the cluster" : "");
    return;
  }
  emit.text.open("for (int round = 0; round * {} < {}; ++round) {{", count, tiles);
  emit.text.line("const int tile = round * {0} + (round & 1 ? {0} - 1 - {1} : {1});", count, index);
  emit.text.line("if (tile >= {}) break;", tiles);
}

std::string computed_trips(EmitContext& emit) {
  const std::optional<TripRule>& rule = emit.grid.rule;
  if (!emit.program.varies || !emit.kernel.loop.tile_trips || (rule && rule->fitted)) return {};
  if (emit.program.cluster == 1 || !rule || rule->dim != emit.program.cluster_dim) return trips_text(emit, emit.grid.names).value_or("0");
  // Blocks of a cluster go through their loops together: as often as the one of them that needs most.
  std::string most;
  for (int block = 0; block < emit.program.cluster; ++block) {
    std::vector<std::string> names = emit.grid.names;
    names[rule->dim] = fmt::format("({} * {} + {})", kPairIndex, emit.program.cluster, block);
    const std::string trips = trips_text(emit, names).value_or("0");
    most = most.empty() ? trips : fmt::format("max({}, {})", most, trips);
  }
  return most;
}

void write_tile(EmitContext& emit, const std::string& trips, const CudaText& steps) {
  const WalkedGrid& grid = emit.grid;
  const std::vector<std::string>& look_ups = emit.notes.look_ups;
  std::vector<bool> used;
  for (std::size_t d = 0; d < grid.names.size(); ++d)
    used.push_back(steps.mentions(grid.names[d]) || (grid.rule && grid.rule->dim == d) ||
                   fmt::format("{} {}", trips, fmt::join(look_ups, " ")).find(grid.names[d]) != std::string::npos);
  if (std::find(used.begin(), used.end(), true) != used.end()) TileNumbers(emit, used).write();
  for (std::size_t n = 0; n < look_ups.size(); ++n) emit.text.line("const int n{} = {};", n, look_ups[n]);
  if (!emit.program.varies) return;
  if (grid.rule && grid.rule->fitted) return write_trips(emit);
  // A role without a loop has no use for them.
  if (!emit.launch.sizes || steps.mentions("trips")) write_bounded_trips(emit, trips);
}

}  // namespace heddle::codegen
