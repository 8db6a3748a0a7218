// The frame of the text: head, shared memory, barriers, and one branch per role.
#include "codegen/emit/writer.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "codegen/device/device.h"
#include "core/problem/fault_log.h"

namespace heddle::codegen {
namespace {

constexpr int kGroupedRows = 16;  ///< rows of tiles that are walked together, so that their panels stay in L2
constexpr int kGroupedTiles = 8;  ///< of equal length that are walked together: their heads' keys and values stay in L2
constexpr std::int64_t kMostTiles = 1'000'000'000;
const std::string kPair = "pair";  ///< index of a cluster along the dimension in which its blocks are neighbours
constexpr std::int64_t kMostVaried = 100'000, kMostDivisor = 64, kMostSlope = 64;  ///< of rounded lines that are looked for

}  // namespace

void Writer::refuse(std::string rule, const TileOp& op, std::string sentence) {
  for (const Refusal& r : refusals_)
    if (r.rule == rule && !r.ops.empty() && r.ops[0] == op.name) return;
  refusals_.push_back({std::move(rule), {op.name}, std::move(sentence), std::nullopt});
}

EmitResult Writer::run() {
  if (!prepare()) return {std::nullopt, std::move(refusals_)};
  write_kernel();
  if (!refusals_.empty()) return {std::nullopt, std::move(refusals_)};
  std::string body;
  for (const ProductShape& shape : shapes_) body += product_text(shape) + "\n";
  body += std::exchange(text_, {});
  write_head();
  text_ += device_text(body) + "\n" + body;
  return {unmarked(), {}};
}

Emission Writer::unmarked() {
  Emission emission;
  emission.launch = std::move(launch_);
  emission.records = std::move(records_);
  int lines = 0;
  std::size_t open = 0;
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t end = text_.find('\n', at) + 1;
    if (text_[at] == kSpanBegins) {
      std::from_chars(text_.data() + at + 1, text_.data() + end, open);
      spans_[open].first_line = lines + 1;
    } else if (text_[at] == kSpanEnds) {
      spans_[open].last_line = lines;
      if (spans_[open].first_line <= lines) emission.lines.push_back(spans_[open]);
    } else {
      emission.source.append(text_, at, end - at);
      ++lines;
    }
    at = end;
  }
  return emission;
}

bool Writer::prepare() {
  products_ = std::any_of(kernel_.body.begin(), kernel_.body.end(), [](const TileOp& op) { return op.kind == "mma"; });
  std::int64_t tiles = 1;
  for (const GridDim& dim : kernel_.grid) {
    const auto size = dim.size.evaluate(program_.params);
    grid_.push_back(size.ok() ? *size : 0);
    if (program_.cluster > 1 && grid_.size() - 1 == program_.cluster_dim)
      grid_.back() = (grid_.back() + program_.cluster - 1) / program_.cluster;
    grid_names_.push_back("g_" + safe_name(dim.name) + (grid_names_.empty() ? "" : std::to_string(grid_names_.size())));
    if (grid_.back() < 1 || grid_.back() > kMostTiles) tiles = 0;
    tiles = tiles > kMostTiles ? tiles : tiles * grid_.back();
  }
  if (tiles < 1 || tiles > kMostTiles) {
    refusals_.push_back({"grid", {}, fmt::format("the grid has {} tiles; 1 to {} can be written", tiles, kMostTiles), std::nullopt});
    return false;
  }
  launch_.threads = program_.threads;
  launch_.smem_bytes = program_.smem_bytes;
  launch_.tiles = tiles * program_.cluster;
  launch_.cluster = program_.cluster;
  lay_out_values();
  if (program_.varies) rule_ = trip_rule();
  return refusals_.empty();
}

void Writer::lay_out_values() {
  // Without wgmma: the rows and columns that all tiles share.
  std::int64_t rows = 0, cols = 0;
  for (const TileValue& v : kernel_.values) {
    Value& value = values_.emplace_back();
    for (const Expr& extent : v.shape) value.shape.push_back(extent.evaluate(program_.params).value());
    value.packed = v.dtype == DType::Bf16 || v.dtype == DType::F16;
    if (v.space == Space::Register && value.shape.size() == 2) rows = value.shape[0], cols = value.shape[1];
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const TileValue& v = kernel_.values[i];
    Value& value = values_[i];
    if (v.space != Space::Register) continue;
    const auto odd = [&](const char* what) { refusals_.push_back({"layout", {}, fmt::format("'{}' {}", v.name, what), std::nullopt}); };
    if (!value.packed && v.dtype != DType::F32) {
      odd("holds 8-bit or integer elements; f32, bf16 and f16 can be written");
      continue;
    }
    Layout layout;
    if (value.shape.size() == 2) {
      layout.rows = value.shape[0];
      layout.cols = value.shape[1];
      if (products_ && (layout.rows != 64 || layout.cols % 16 != 0 || layout.cols > 256))
        odd("is no tile of 64 rows and 16 to 256 columns, as one warpgroup holds");
      if (!products_ && (layout.rows != rows || layout.cols != cols || rows % 4 != 0 || cols % 256 != 0))
        odd("does not have the rows (a multiple of 4) and columns (a multiple of 256) of the kernel's other tiles");
      layout.columns = static_cast<int>(products_ ? 0 : cols / 32);
      layout.elements = static_cast<int>(products_ ? layout.cols / 2 : rows / 4 * (cols / 32));
    } else if (products_ && value.shape.size() == 1 && value.shape[0] % 8 == 0 && lies_along_columns(v)) {
      layout.kind = Layout::Kind::Columns;
      layout.cols = value.shape[0];
      layout.elements = static_cast<int>(value.shape[0] / 4);
    } else if (value.shape.size() == 1 && value.shape[0] == (products_ ? 64 : rows)) {
      layout.kind = Layout::Kind::Rows;
      layout.rows = value.shape[0];
      layout.elements = products_ ? 2 : static_cast<int>(rows / 4);
    } else if (value.shape.size() == 1 && !products_ && value.shape[0] == cols) {
      layout.kind = Layout::Kind::Columns;
      layout.cols = cols;
      layout.elements = static_cast<int>(cols / 32);
    } else {
      odd("has a shape that is spread over threads in no known way");
    }
    if (layout.elements > 256) odd("takes more registers than a thread has");
    if (value.shape.size() == 1) {
      const std::int64_t words = value.packed ? (layout.elements + 1) / 2 : layout.elements, share = (value.shape[0] + 127) / 128;
      const std::int64_t said = v.registers ? v.registers->evaluate(program_.params).value() : share;
      if (said < words)
        odd(fmt::format("lies in {} registers of every thread, and its file says {} (\"registers\": {})", words, said, words).c_str());
    }
    value.layout = layout;
  }
}

/// Some op lays it over a tile, one element for each column.
bool Writer::lies_along_columns(const TileValue& value) const {
  for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list)
      if (integer_attr(op, "axis", 0) == 1 && op.kind != "reduce_max" && op.kind != "reduce_sum")
        for (const Operand& in : op.inputs)
          if (in.value == value.name) return true;
  return false;
}

void Writer::write_head() {
  line("// {}: CUDA C++ for sm_90a, written by Heddle from a schedule. Do not edit: change the schedule.", safe_name(program_.kernel));
  std::string params;
  for (const auto& [name, number] : program_.params) params += fmt::format(" {}={}", safe_name(name), number);
  line("//{}; {} trips, {} tiles", params, program_.trips, launch_.tiles);
  line("// machine {}{}, II {} cycles", safe_name(problem_.machine), problem_.changes.empty() ? "" : " (changed)", schedule_.ii);
  for (const std::string& change : problem_.changes) line("// changed: {}", comment_text(change));
  if (schedule_.certificate) {
    const Certificate& c = *schedule_.certificate;
    line("// certificate: {}, lower bound {}, proved by the program that wrote this, problem {}", to_string(c.status), c.lower_bound,
         safe_name(c.problem_hash));
  } else if (schedule_.claim) {
    const Certificate& c = *schedule_.claim;
    line("// certificate: none; the schedule's file says {}, lower bound {}, problem {}", to_string(c.status), c.lower_bound,
         safe_name(c.problem_hash));
  } else {
    raw("// certificate: none, nothing is claimed about other schedules");
  }
  line("// launch: {} threads, {} bytes of dynamic shared memory, a block per SM (at most {}){}", program_.threads, program_.smem_bytes,
       launch_.tiles, program_.cluster > 1 ? fmt::format(", in clusters of {}", program_.cluster) : std::string());
  for (std::size_t m = 0; m < launch_.maps.size(); ++m) {
    const TensorMapPlan& map = launch_.maps[m];
    std::string box, extents;
    for (const std::int64_t b : map.box) box += fmt::format(" {}", b);
    for (const std::int64_t e : map.extents) extents += fmt::format(" {}", e);
    line("// map{}: {}, extents{} (innermost first), box{}, {}", m, safe_name(kernel_.tensors[map.tensor].name), extents, box,
         map.swizzle ? "128-byte swizzle" : "no swizzle");
  }
  raw("");
}

void Writer::write_kernel() {
  indent_ = 1;
  // Roles first: they find out which maps and pointers there are.
  for (std::size_t r = 0; r < program_.roles.size(); ++r) write_role(program_.roles[r], r);
  indent_ = 0;
  const std::string roles = std::exchange(text_, {});

  std::string arguments;
  for (std::size_t m = 0; m < launch_.maps.size(); ++m)
    arguments += fmt::format("{}const __grid_constant__ TensorMap map{}", arguments.empty() ? "" : ", ", m);
  for (std::size_t p = 0; p < launch_.pointers.size(); ++p)
    arguments += fmt::format("{}const {}* __restrict__ in{}", arguments.empty() ? "" : ", ",
                             kernel_.tensors[launch_.pointers[p]].dtype == DType::F32 ? "float" : "unsigned short", p);
  if (records_) arguments += fmt::format("{}u64* records", arguments.empty() ? "" : ", ");
  const bool clusters = program_.cluster > 1;
  line("extern \"C\" __global__ void {}__launch_bounds__({}, 1)\n{}({}) {{",
       clusters ? fmt::format("__cluster_dims__({}, 1, 1) ", program_.cluster) : std::string(), program_.threads, launch_.entry, arguments);
  indent_ = 1;
  raw("extern __shared__ __align__(1024) unsigned char shared[];");
  raw("const u32 smem = shared_address(shared);");
  if (clusters)
    line("const int rank = blockIdx.x % {}, cluster = blockIdx.x / {}, clusters = gridDim.x / {};  // this block in its cluster",
         program_.cluster, program_.cluster, program_.cluster);
  for (const Buffer& buffer : program_.buffers)
    line("// {:>7}: {}, {} x {} bytes", buffer.offset, safe_name(buffer.name), buffer.depth, buffer.slot_bytes);
  raw("if (threadIdx.x == 0) {");
  ++indent_;
  for (std::size_t b = 0; b < program_.barriers.size(); ++b) {
    const Barrier& barrier = program_.barriers[b];
    const int depth = program_.buffers[barrier.buffer].depth;
    const std::string name = safe_name(barrier.full ? kernel_.values[barrier.value].name : program_.buffers[barrier.buffer].name);
    for (int s = 0; s < depth; ++s)
      line("barrier_init(smem + {}, {});  // {} {}[{}]", barrier_address(program_, b) + 8 * s, barrier.arrivals,
           barrier.full ? "full" : "empty", name, s);
  }
  for (std::size_t m = 0; m < launch_.maps.size(); ++m) line("prefetch_map(&map{});", m);
  raw("barrier_init_fence();");
  if (records_) raw(record_head("block_begins"));
  --indent_;
  raw("}");
  raw(clusters ? "cluster_sync();" : "__syncthreads();");
  text_ += roles;
  indent_ = 0;
  raw("}");
}

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
  if (used > 1 || grid_.empty() || grid_[rule.dim] > kMostVaried) return no("follow more than one block index");
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

void Writer::write_tile_numbers() {
  // Blocks of a cluster are neighbours along one dimension.
  std::string& across = grid_names_[program_.cluster_dim < grid_names_.size() ? program_.cluster_dim : 0];
  if (program_.cluster > 1) {
    const std::string name = std::exchange(across, kPair);
    write_walk();
    across = name;
    line("const int {} = {} * {} + rank;", across, kPair, program_.cluster);
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
    if (d != dims.back())
      line("const int {} = {} % {};", grid_names_[d], whole, grid_[d]);
    else
      line("const int {} = {};", grid_names_[d], whole);
    stride *= grid_[d];
  }
}

void Writer::write_variables(const Role& role) {
  for (std::size_t v = 0; v < role.variables.size(); ++v) {
    const Variable& variable = role.variables[v];
    if (!values_[variable.value].layout) continue;
    for (int c = 0; c < variable.copies; ++c)
      line("{} {}[{}];", type_of(variable.value), register_text({Place::Kind::Variable, v, c, 0, variable.value, 0}),
           words_of(variable.value));
  }
}

void Writer::write_role(const Role& role, std::size_t index) {
  role_ = &role;
  role_index_ = index;
  flying_.clear();
  unpinned_.clear();
  wrote_shared_ = true;  // by the tile before
  unread_ = nullptr;
  open_.clear();
  finished_sums_.clear();
  const bool computes = !role.variables.empty();
  one_thread_ = !computes;
  for (const Section& section : role.sections)
    for (const Step& step : section.steps)
      if (step.kind == StepKind::Compute || step.kind == StepKind::Sync) one_thread_ = false;
  if (!one_thread_ && role.warps != 4) {
    refusals_.push_back(
        {"role_warps", {}, fmt::format("role '{}' computes with {} warps; 4 can be written", role.name, role.warps), std::nullopt});
    return;
  }
  const bool first = index == 0, last = index + 1 == program_.roles.size();
  const std::string condition = last ? std::string() : fmt::format("if (threadIdx.x < {}) ", role.first_thread + 128 * role.warpgroups);
  line("{}{}{{  // ---- {}: threads {} to {}", first ? "" : "} else ", condition, safe_name(role.name), role.first_thread,
       role.first_thread + 32 * role.warps - 1);
  ++indent_;
  if (role.registers > program_.entry_registers) line("more_registers<{}>();", role.registers);
  if (role.registers > 0 && role.registers < program_.entry_registers) line("fewer_registers<{}>();", role.registers);
  if (one_thread_) {
    // An elected lane, not thread 0 of the role: the compiler then knows that one thread is here, and needs no loop around a TMA.
    line("if ({}threadIdx.x < {} && elected()) {{", role.first_thread > 0 ? fmt::format("threadIdx.x >= {} && ", role.first_thread) : "",
         role.first_thread + 32);
    ++indent_;
  } else {
    line("const int tid = threadIdx.x - {}, lane = tid & 31, warp = tid >> 5;", role.first_thread);
    write_variables(role);
  }
  for (std::size_t c = 0; c < role.cursors.size(); ++c) {
    bool asked = false;
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        asked =
            asked || (step.cursor == c && (step.kind == StepKind::Wait || step.kind == StepKind::Arrive || step.engine == Engine::Load));
    if (role.cursors[c].depth > 1)
      line("int s{0} = 0; u32 p{0} = 0;  // slot of {1}, phase", c, role.cursors[c].depth);
    else if (asked)
      line("u32 p{0} = 0;  // phase", c);
  }
  begin_records(role);
  if (program_.turns && program_.turns->first != program_.turns->last && program_.turns->last == index)
    line("pass_turn<{}, {}>();  // {} begins", kFirstTurn + program_.turns->first, kTurnThreads,
         safe_name(program_.roles[program_.turns->first].name));
  write_tile_loop();
  const std::string before = std::exchange(text_, {});
  for (const Section& section : role.sections) write_section(role, section);
  const std::string steps = std::exchange(text_, before);
  if (rule_ ||
      std::any_of(grid_names_.begin(), grid_names_.end(), [&](const std::string& name) { return steps.find(name) != std::string::npos; }))
    write_tile_numbers();
  if (rule_) {
    const std::string& index = program_.cluster > 1 && rule_->dim == program_.cluster_dim ? kPair : grid_names_[rule_->dim];
    const std::string wanted = affine_text({rule_->offset, {rule_->slope}}, {index});
    const std::string bounded = fmt::format("max({}, min({}, {}))", program_.least_trips, program_.trips,
                                            rule_->divisor > 1 ? fmt::format("({}) / {}", wanted, rule_->divisor) : wanted);
    if (program_.trip_step == 1)
      line("const int trips = {};", bounded);
    else
      line("const int trips = {0} - ({0} - {1}) / {2} * {2};", program_.trips, bounded, program_.trip_step);
  }
  text_ += steps;
  --indent_;
  raw("}");
  const bool stores = std::any_of(role.sections.begin(), role.sections.end(), [](const Section& s) {
    return std::any_of(s.steps.begin(), s.steps.end(), [](const Step& step) { return step.engine == Engine::Store; });
  });
  if (stores) raw(one_thread_ ? "store_wait_all();" : "if (tid == 0) store_wait_all();");
  if (records_ && index == 0) raw((one_thread_ ? "" : "if (tid == 0) ") + record_head("block_ends"));
  if (one_thread_) {
    --indent_;
    raw("}");
  }
  if (program_.cluster > 1) raw("cluster_sync();  // the other block may still write here");
  raw("return;");
  --indent_;
  if (last) raw("}");
}

std::string Writer::passes_text(const Section& section, const Step& step) const {
  std::string text;
  if (step.skip_first > 0) text = fmt::format("i >= {}", section.first + std::int64_t{step.skip_first} * section.unroll);
  if (step.skip_last > 0) text += fmt::format("{}i < {}", text.empty() ? "" : " && ", end_text(section, step.skip_last));
  return text;
}

std::string Writer::end_text(const Section& section, int passes_before) const {
  const std::int64_t end = section.first + (section.times - passes_before) * section.unroll;
  return program_.varies ? affine_text({end - program_.trips, {1}}, {"trips"}) : std::to_string(end);
}

void Writer::write_section(const Role& role, const Section& section) {
  (void)role;
  section_ = &section;
  unread_ = nullptr;
  line("// {}", to_string(section.part));
  if (section.loop) {
    record_loop(true);
    raw("#pragma unroll 1");
    line("for (int i = {}; i < {}; i += {}) {{", section.first, end_text(section), section.unroll);
    ++indent_;
    bool left = wrote_shared_;  // by the pass before
    for (const Step& step : section.steps) left = !meets(step) && (left || writes_shared(step));
    wrote_shared_ = wrote_shared_ || left;
    record_pass();
    for (auto& group : flying_)
      for (Flying& f : group) f.this_pass = false;
  }
  for (const Step& step : section.steps) {
    record_before(step);
    if (step.skip_first > 0 || step.skip_last > 0) {
      line("if ({}) {{", passes_text(section, step));
      ++indent_;
      write_step(step);
      --indent_;
      raw("}");
    } else {
      write_step(step);
    }
    record_after(step);
  }
  if (section.loop) {
    flush_records("i");
    --indent_;
    raw("}");
    record_loop(false);
    for (auto& group : flying_)
      for (Flying& f : group) f.this_pass = false;
  }
}

EmitResult emit_cuda(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program, Recording recording) {
  Writer writer(kernel, problem, schedule, program);
  if (recording != Recording::None) writer.plan_records(recording);
  return writer.run();
}

}  // namespace heddle::codegen
