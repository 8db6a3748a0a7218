// How a block walks over tiles: which they are, in what order, and how many trips each of them has.
#include <algorithm>
#include <numeric>

#include "codegen/emit/writer.h"

namespace heddle::codegen {
namespace {

constexpr int kGroupedRows = 16;  ///< rows of tiles that are walked together, so that their panels stay in L2
constexpr int kGroupedTiles = 8;  ///< of equal length that are walked together: their heads' keys and values stay in L2
constexpr std::int64_t kMostVaried = 100'000, kMostDivisor = 64, kMostSlope = 64;  ///< of rounded lines that are looked for

}  // namespace

bool Writer::wants_grouping() const {
  if (grid_.size() != 2 || grid_[0] < kGroupedRows || grid_[1] < 2) return false;
  // Some loads follow one grid dimension only and some the other: panels of both are worth keeping.
  bool by[2] = {false, false};
  for (const TileOp& op : kernel_.body) {
    if (op.kind != "tma_load") continue;
    bool uses[2] = {false, false};
    for (const Expr& at : op.at)
      for (const std::string& name : at.names())
        for (int d = 0; d < 2; ++d) uses[d] = uses[d] || name == kernel_.grid[static_cast<std::size_t>(d)].name;
    if (uses[0] != uses[1]) by[uses[0] ? 0 : 1] = true;
  }
  return by[0] && by[1];
}

/// Tiles of different lengths: the long ones come first, and every second round goes back and forth, so that each block
/// gets as much as any other.
Writer::TileWalk Writer::tile_walk() const {
  if (program_.cluster > 1) return {"cluster", "clusters", launch_.tiles / program_.cluster};
  return {"blockIdx.x", "gridDim.x", launch_.tiles};
}

void Writer::write_tile_loop() {
  const auto [index, count, tiles] = tile_walk();
  if (!rule_) {
    line("for (int tile = {}; tile < {}; tile += {}) {{{}", index, tiles, count, program_.cluster > 1 ? "  // of the cluster" : "");
    ++indent_;
    return;
  }
  line("for (int round = 0; round * {} < {}; ++round) {{", count, tiles);
  ++indent_;
  line("const int tile = round * {0} + (round & 1 ? {0} - 1 - {1} : {1});", count, index);
  line("if (tile >= {}) break;", tiles);
}

std::optional<Writer::TripRule> Writer::trip_rule() {
  const auto no = [&](const char* why) -> std::optional<TripRule> {
    refusals_.push_back({"tile_trips", {}, fmt::format("the trips of a tile {}", why), std::nullopt});
    return std::nullopt;
  };
  TripRule rule;
  const auto names = kernel_.loop.tile_trips->names();
  int used = 0;
  for (std::size_t d = 0; d < kernel_.grid.size(); ++d)
    if (std::find(names.begin(), names.end(), kernel_.grid[d].name) != names.end()) rule.dim = d, ++used;
  if (used > 1 || !kernel_.loop.tile_trips->tables().empty()) {
    if (program_.cluster > 1)
      return no("are looked up, or follow more than one block index, and all blocks of a cluster run as many trips");
    if (!trips_text()) return no("cannot be computed by the kernel");
    return std::nullopt;
  }
  if (grid_.empty() || grid_[rule.dim] > kMostVaried) return no("follow no block index, or one of too many");
  std::vector<std::int64_t> wanted;
  Scope scope = program_.params;
  for (const GridDim& dim : kernel_.grid) scope[dim.name] = 0;
  // Blocks of a cluster go through their loops together: as often as the one of them that needs most.
  const std::int64_t together = program_.cluster > 1 && rule.dim == program_.cluster_dim ? program_.cluster : 1;
  for (std::int64_t g = 0; g < grid_[rule.dim]; ++g) {
    std::int64_t most = program_.least_trips;
    for (std::int64_t block = 0; block < together; ++block) {
      scope[kernel_.grid[rule.dim].name] = g * together + block;
      const auto number = kernel_.loop.tile_trips->evaluate(scope);
      if (!number.ok()) return no("cannot be computed");
      most = std::max(most, *number);
    }
    wanted.push_back(std::min(most, program_.trips));
  }
  rule.longer_later = wanted.back() >= wanted.front();
  // The rounded line through all of them with the smallest numbers. `offset` follows from the indices between the bounds.
  const auto at = [&](const TripRule& r, std::int64_t g) {
    return std::clamp((r.slope * g + r.offset) / r.divisor, program_.least_trips, program_.trips);
  };
  for (rule.divisor = 1; rule.divisor <= kMostDivisor; ++rule.divisor)
    for (rule.slope = -kMostSlope; rule.slope <= kMostSlope; ++rule.slope) {
      std::int64_t low = -kMostTiles, high = kMostTiles;
      for (std::size_t g = 0; g < wanted.size(); ++g) {
        const std::int64_t whole = wanted[g] * rule.divisor - rule.slope * static_cast<std::int64_t>(g);
        if (wanted[g] > program_.least_trips) low = std::max(low, whole);
        if (wanted[g] < program_.trips) high = std::min(high, whole + rule.divisor - 1);
      }
      if (low > high) continue;
      rule.offset = std::clamp<std::int64_t>(0, low, high);
      bool fits = true;
      for (std::size_t g = 0; g < wanted.size() && fits; ++g) fits = at(rule, static_cast<std::int64_t>(g)) == wanted[g];
      if (fits) return rule;
    }
  return no("are no rounded multiple of a block index");
}

void Writer::write_trips() {
  const std::string index = program_.cluster > 1 && rule_->dim == program_.cluster_dim ? std::string(kPairIndex) : grid_names_[rule_->dim];
  const std::string wanted = affine_text({rule_->offset, {rule_->slope}}, {index});
  write_bounded_trips(rule_->divisor > 1 ? fmt::format("({}) / {}", wanted, rule_->divisor) : wanted);
}

void Writer::write_bounded_trips(const std::string& wanted) {
  const std::string bounded = fmt::format("max({}, min({}, {}))", program_.least_trips, program_.trips, wanted);
  if (program_.trip_step == 1)
    line("const int trips = {};", bounded);
  else
    line("const int trips = {0} - ({0} - {1}) / {2} * {2};", program_.trips, bounded, program_.trip_step);
}

void Writer::write_tile_numbers() {
  // Blocks of a cluster are neighbours along one dimension.
  std::string& across = grid_names_[program_.cluster_dim < grid_names_.size() ? program_.cluster_dim : 0];
  if (program_.cluster > 1) {
    const std::string name = std::exchange(across, std::string(kPairIndex));
    write_walk();
    across = name;
    if (grid_used_[program_.cluster_dim]) line("const int {} = {} * {} + rank;", across, kPairIndex, program_.cluster);
  } else {
    write_walk();
  }
}

void Writer::write_walk() {
  if (rule_ && grid_.size() >= 2) {
    std::vector<std::size_t> others;
    std::int64_t count = 1;
    for (std::size_t d = 0; d < grid_.size(); ++d)
      if (d != rule_->dim) others.push_back(d), count *= grid_[d];
    const std::string other = others.size() == 1 ? grid_names_[others[0]] : "other";
    const std::int64_t group = kGroupedTiles * grid_[rule_->dim];
    line("const int first = tile / {} * {}, width = min({}, {} - first), inside = tile % {};", group, kGroupedTiles, kGroupedTiles, count,
         group);
    line("const int {} = {}, {} = first + inside % width;  // long tiles first", grid_names_[rule_->dim],
         rule_->longer_later ? fmt::format("{} - inside / width", grid_[rule_->dim] - 1) : std::string("inside / width"), other);
    if (others.size() > 1) write_indices(other, others);
    return;
  }
  if (wants_grouping()) {
    const std::int64_t group = kGroupedRows * grid_[1];
    line("const int group = tile / {}, first = group * {}, rows = min({}, {} - first), inside = tile % {};", group, kGroupedRows,
         kGroupedRows, grid_[0], group);
    line("const int {} = first + inside % rows, {} = inside / rows;", grid_names_[0], grid_names_[1]);
    return;
  }
  std::vector<std::size_t> all(grid_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  write_indices("tile", all);
}

void Writer::write_indices(const std::string& number, const std::vector<std::size_t>& dims) {
  std::int64_t stride = 1;
  for (const std::size_t d : dims) {
    const std::string whole = stride == 1 ? number : fmt::format("{} / {}", number, stride);
    if (grid_used_[d]) line("const int {} = {};", grid_names_[d], d != dims.back() ? fmt::format("{} % {}", whole, grid_[d]) : whole);
    stride *= grid_[d];
  }
}

}  // namespace heddle::codegen
