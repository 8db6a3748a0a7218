#include "codegen/emit/writer.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "codegen/device/device.h"
#include "codegen/emit/tensor_move.h"
#include "core/problem/fault_log.h"

namespace heddle::codegen {
namespace {

/// What a tensor read by plain loads is to the text.
const char* pointer_type(DType dtype) {
  switch (bits_of(dtype)) {
    case 32: return dtype == DType::F32 ? "float" : "int";
    case 16: return "unsigned short";
    default: return "unsigned char";
  }
}

}  // namespace

void Writer::refuse(std::string rule, const TileOp& op, std::string sentence) {
  for (const Refusal& r : refusals_)
    if (r.rule == rule && !r.ops.empty() && r.ops[0] == op.name) return;
  refusals_.push_back({std::move(rule), {op.name}, std::move(sentence), std::nullopt});
}

EmitResult Writer::run() {
  if (!prepare()) return {std::nullopt, std::move(refusals_)};
  write_kernel();
  judge_unskipped();
  if (!refusals_.empty()) return {std::nullopt, std::move(refusals_)};
  std::string body;
  for (const ProductShape& shape : shapes_) body += product_text(shape) + "\n";
  for (const int width : tensor_loads_) body += tensor_load_text(width) + "\n";
  for (const int width : tensor_stores_) body += tensor_store_text(width) + "\n";
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

void Writer::write_head() {
  line("// {}: CUDA C++ for {}, written by Heddle from a schedule. Do not edit: change the schedule.", safe_name(program_.kernel),
       safe_name(program_.arch));
  if (program_.blackwell()) raw("// not run on a GPU yet: compiled, and executed by an emulator of what it uses");
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
  for (const std::string& name : unskipped_)
    line("// {}: factors of one are multiplied too, for in this schedule it does not follow what reads its tile, or what writes it back",
         safe_name(name));
  for (std::size_t m = 0; m < launch_.maps.size(); ++m) {
    const TensorMapPlan& map = launch_.maps[m];
    std::string box, extents;
    for (const std::int64_t b : map.box) box += fmt::format(" {}", b);
    for (const std::int64_t e : map.extents) extents += fmt::format(" {}", e);
    if (!map.strides.empty()) extents += fmt::format(" in strides of {}", fmt::join(map.strides, " "));
    line("// map{}: {}, extents{} (innermost first), box{}, {}", m, safe_name(kernel_.tensors[map.tensor].name), extents, box,
         map.swizzle > 0 ? fmt::format("{}-byte swizzle", map.swizzle) : "no swizzle");
  }
  std::set<std::string> places;
  for (const auto& [name, order] : plan_->packed)
    if (const Tensor* tensor = kernel_.find_tensor(name); tensor && places.insert(safe_name(name)).second) write_place_of(*tensor, order);
  raw("");
}

/// Where a packed tensor keeps its numbers, for whoever packs or unpacks it; core/kernel/packed.h has the same.
void Writer::write_place_of(const Tensor& tensor, PackedOrder order) {
  const int bits = bits_of(tensor.dtype);
  const std::int64_t columns = tensor.shape.back().evaluate(program_.params).value(), width = packed_columns(bits);
  const std::string block = fmt::format("(row / 64 * {} + column / {}) * {}", columns / width, width, kPackedRows * width);
  const std::string lane = "row % 8 * 4 + column % 8 / 2";
  line("#ifndef __CUDA_ARCH__  // for the host: where {} keeps a number, counted in numbers{}", safe_name(tensor.name),
       bits == 4 ? " of 4 bits, the lower half of a byte first" : "");
  line("static inline long long place_of_{}(long long row, long long column) {{", safe_name(tensor.name));
  if (order == PackedOrder::Lines)
    line("  return {} + row % 64 / 16 * 128 + (row % 16 / 8 * 2 + column % 2) * 32 + {};", block, lane);
  else if (bits == 4)
    line("  return {} + (row % 64 / 16 * 32 + {}) * 32 + column % 64 / 16 * 8 + column % 2 * 4 + column % 16 / 8 * 2 + row % 16 / 8;",
         block, lane);
  else
    line("  return {} + (row % 64 / 16 * 32 + {}) * 4 + row % 16 / 8 * 2 + column % 2;", block, lane);
  raw("}");
  raw("#endif");
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
                             pointer_type(kernel_.tensors[launch_.pointers[p]].dtype), p);
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
  if (clusters && roles.find("in_block") != std::string::npos)
    raw("const u32 in_block = smem & 0x3ffff;  // an address in a cluster has the block's rank in bits 24 and up; descriptors have no room "
        "for it");
  for (const Buffer& buffer : program_.buffers)
    if (!buffer.tensor()) line("// {:>7}: {}, {} x {} bytes", buffer.offset, safe_name(buffer.name), buffer.depth, buffer.slot_bytes);
  for (const Role& role : program_.roles)
    if (role.scratch_bytes > 0)
      line("// {:>7}: changes of layout of {}, {} bytes", role.scratch_offset, safe_name(role.name), role.scratch_bytes);
  for (const Buffer& buffer : program_.buffers)
    if (buffer.tensor())
      line("// {:>7}: {}, {} x {} columns of tensor memory", buffer.offset, safe_name(buffer.name), buffer.depth, buffer.columns);
  raw("if (threadIdx.x == 0) {");
  ++indent_;
  for (std::size_t b = 0; b < program_.barriers.size(); ++b) {
    const Barrier& barrier = program_.barriers[b];
    const int depth = program_.buffers[barrier.buffer].depth;
    const std::string name = barrier_name(b);
    for (int s = 0; s < depth; ++s)
      line("barrier_init(smem + {}, {});  // {} {}[{}]", barrier_address(program_, b) + 8 * s, barrier.arrivals,
           barrier.full ? "full" : "empty", name, s);
  }
  for (std::size_t m = 0; m < launch_.maps.size(); ++m) line("prefetch_map(&map{});", m);
  raw("barrier_init_fence();");
  if (records_) raw(record_head("block_begins"));
  --indent_;
  raw("}");
  if (program_.tensor)
    allocate_tensor_memory();
  else
    raw(clusters ? "cluster_sync();" : "__syncthreads();");
  text_ += roles;
  indent_ = 0;
  raw("}");
}

void Writer::allocate_tensor_memory() {
  const std::int64_t address = program_.smem_bytes - 16;  // behind the barriers
  line("if (threadIdx.x / 32 == {}) tensor_allocate{}(smem + {}, {});",
       program_.roles[program_.tensor->freed_by.value_or(0)].first_thread / 32, program_.pair ? "_pair" : "", address,
       program_.tensor->columns);
  raw("tensor_fence_before();");
  raw(program_.pair ? "cluster_sync();" : "__syncthreads();");
  raw("tensor_fence_after();");
  raw("u32 tensor;  // where tensor memory begins");
  line("load_word(smem + {}, tensor);", address);
}

/// At the end of a warpgroup's branch. Each of them leaves by itself: ptxas spills in what follows branches with budgets of their own.
void Writer::free_tensor_memory(const Role& role) {
  const int freed_by = program_.roles[program_.tensor->freed_by.value_or(0)].first_thread;
  const bool here = freed_by / 128 == role.first_thread / 128;
  raw("__syncwarp();");
  raw("tensor_fence_before();");
  if (program_.pair) raw("cluster_sync();  // both blocks are done");
  if (!here) {
    if (!program_.pair) line("pass_turn<{}, {}>();  // done with tensor memory", kFreeing, program_.threads);
    return;
  }
  line("if (threadIdx.x / 32 == {}) {{", freed_by / 32);
  ++indent_;
  if (!program_.pair) line("take_turn<{}, {}>();  // all others are done", kFreeing, program_.threads);
  raw("tensor_fence_after();");
  line("tensor_free{}(tensor, {});", program_.pair ? "_pair" : "", program_.tensor->columns);
  --indent_;
  if (program_.pair) return raw("}");
  raw("} else {");
  line("  pass_turn<{}, {}>();", kFreeing, program_.threads);
  raw("}");
}

void Writer::write_variables(const Role& role) {
  for (std::size_t v = 0; v < role.variables.size(); ++v) {
    const Variable& variable = role.variables[v];
    if (!values_[variable.value].layout) continue;
    int words = words_of(variable.value);
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        if (step.output.kind == Place::Kind::Variable && step.output.index == v) words = words_of(step, variable.value);
    for (int c = 0; c < variable.copies; ++c)
      line("{} {}[{}];", type_of(variable.value), register_text({Place::Kind::Variable, v, c, 0, variable.value, 0}), words);
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
  loading_.clear();
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
  open_branch(role, index);
  if (one_thread_) {
    // An elected lane, not thread 0 of the role: the compiler then knows that one thread is here, and needs no loop around a TMA.
    line("if ({}{}threadIdx.x < {} && elected()) {{", program_.pair && issues_products(role) ? "rank == 0 && " : "",
         role.first_thread > 0 ? fmt::format("threadIdx.x >= {} && ", role.first_thread) : "", role.first_thread + 32);
    ++indent_;
  } else {
    line("const int tid = threadIdx.x - {}, lane = tid & 31, warp = tid >> 5;", role.first_thread);
    const bool tensor = std::any_of(role.sections.begin(), role.sections.end(), [&](const Section& s) {
      return std::any_of(s.steps.begin(), s.steps.end(), [&](const Step& step) { return touches_tensor(step); });
    });
    if (tensor) raw("const u32 own = tensor + (warp << 21);  // the 32 lanes of tensor memory that this warp can reach");
    write_variables(role);
  }
  for (std::size_t c = 0; c < role.cursors.size(); ++c) {
    bool asked = false;
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        asked = asked || (step.cursor == c && (step.kind == StepKind::Wait || step.kind == StepKind::Arrive ||
                                               step.kind == StepKind::Signal || step.engine == Engine::Load));
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
  tile_look_ups_.clear();
  const std::string trips = computes_trips() ? trips_text().value_or("0") : std::string();
  const std::string before = std::exchange(text_, {});
  for (const Section& section : role.sections) write_section(role, section);
  const std::string steps = std::exchange(text_, before);
  grid_used_.clear();
  for (std::size_t d = 0; d < grid_names_.size(); ++d)
    grid_used_.push_back(steps.find(grid_names_[d]) != std::string::npos || (rule_ && rule_->dim == d) ||
                         fmt::format("{} {}", trips, fmt::join(tile_look_ups_, " ")).find(grid_names_[d]) != std::string::npos);
  if (std::find(grid_used_.begin(), grid_used_.end(), true) != grid_used_.end()) write_tile_numbers();
  for (std::size_t n = 0; n < tile_look_ups_.size(); ++n) line("const int n{} = {};", n, tile_look_ups_[n]);
  if (program_.varies) rule_ ? write_trips() : write_bounded_trips(trips);
  text_ += steps;
  --indent_;
  raw("}");
  const bool stores = std::any_of(role.sections.begin(), role.sections.end(), [](const Section& s) {
    return std::any_of(s.steps.begin(), s.steps.end(), [](const Step& step) { return step.engine == Engine::Store; });
  });
  const bool anew = tiles_ == Tiles::ThreadRows;
  if (stores)
    raw(one_thread_ ? "store_wait_all();"
        : anew      ? fmt::format("if (this_thread() == {}) store_wait_all();", role.first_thread)
                    : "if (tid == 0) store_wait_all();");
  if (records_ && index == 0) raw((one_thread_ ? "" : "if (tid == 0) ") + record_head("block_ends"));
  if (one_thread_) {
    --indent_;
    raw("}");
  }
  close_branch(role, index);
}

bool Writer::shares_branch(std::size_t index) const { return index < program_.roles.size() && program_.roles[index].warpgroups == 0; }

void Writer::open_branch(const Role& role, std::size_t index) {
  const int last_thread = role.first_thread + 32 * role.warps - 1;
  if (shares_branch(index)) return line("// ---- {}: threads {} to {}", safe_name(role.name), role.first_thread, last_thread);
  bool last = true;
  for (std::size_t r = index + 1; r < program_.roles.size(); ++r) last = last && shares_branch(r);
  const std::string condition = last ? std::string() : fmt::format("if (threadIdx.x < {}) ", role.first_thread + 128 * role.warpgroups);
  line("{}{}{{  // ---- {}: threads {} to {}", index == 0 ? "" : "} else ", condition, safe_name(role.name), role.first_thread,
       last_thread);
  ++indent_;
  if (role.registers > program_.entry_registers) line("more_registers<{}>();", role.registers);
  if (role.registers > 0 && role.registers < program_.entry_registers) line("fewer_registers<{}>();", role.registers);
}

void Writer::close_branch(const Role& role, std::size_t index) {
  if (shares_branch(index + 1)) return;
  if (program_.tensor)
    free_tensor_memory(role);
  else if (program_.cluster > 1)
    raw("cluster_sync();  // the other block may still write here");
  raw("return;");
  --indent_;
  if (index + 1 == program_.roles.size()) raw("}");
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
  section_ = &section;
  unread_ = nullptr;
  line("// {}", to_string(section.part));
  // Read anew after the loop, so that it is not held in a register that the loop needs.
  const auto computes = [](const Section& s) {
    return std::any_of(s.steps.begin(), s.steps.end(), [](const Step& step) { return step.kind == StepKind::Compute; });
  };
  const bool before =
      std::any_of(role.sections.begin(), role.sections.end(), [&](const Section& s) { return &s != &section && computes(s); });
  if (section.part == Section::Part::End && before && computes(section) && tiles_ == Tiles::ThreadRows && !one_thread_) {
    line("[[maybe_unused]] const int tid = this_thread() - {}, lane = tid & 31, warp = tid >> 5;", role.first_thread);
    raw("[[maybe_unused]] const u32 own = tensor + (warp << 21);");
  }
  if (section.loop) {
    record_loop(true);
    raw("#pragma unroll 1");
    line("for (int i = {}; i < {}; i += {}) {{", section.first, end_text(section), section.unroll);
    ++indent_;
    bool left = wrote_shared_;  // by the pass before
    for (const Step& step : section.steps) left = !meets(step) && (left || writes_shared(step));
    wrote_shared_ = wrote_shared_ || left;
    record_pass();
    carry_loads(section);
    for (auto& group : flying_)
      for (Flying& f : group) f.this_pass = false;
  }
  std::size_t rescales = 0;  // steps up to the end of those that are skipped where all factors are one
  bool elected = false;      // one thread is here, for these steps and more
  for (std::size_t k = 0; k < section.steps.size(); ++k) {
    const Step& step = section.steps[k];
    record_before(step);
    if (rescales == 0 && (rescales = rescale_at(section, k)) > 0) open_rescale(section, k);
    if (rescales > 0 && step.kind == StepKind::Compute) skipped_.insert(op_of(kernel_, step.op).name);
    if (!one_thread_ && elects(step) && !elected) {
      raw("if (warp == 0 && elected()) {");
      ++indent_;
      elected = true;
    }
    write_skipping(section, step);
    if (elected && (recording_ops() || k + 1 == section.steps.size() || !elects(section.steps[k + 1]))) {
      --indent_;
      raw("}");
      raw("__syncwarp();");
      elected = false;
    }
    for (int open = rescales == 1 ? 2 : 0; open > 0; --open) {
      --indent_;
      raw("}");
    }
    if (rescales > 0) --rescales;
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

/// Not in the passes that do without it.
void Writer::write_skipping(const Section& section, const Step& step) {
  if (step.skip_first == 0 && step.skip_last == 0) return write_step(step);
  line("if ({}) {{", passes_text(section, step));
  ++indent_;
  write_step(step);
  --indent_;
  raw("}");
}

EmitResult emit_cuda(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program, Recording recording) {
  Writer writer(kernel, problem, schedule, program);
  if (recording != Recording::None) writer.plan_records(recording);
  return writer.run();
}

}  // namespace heddle::codegen
