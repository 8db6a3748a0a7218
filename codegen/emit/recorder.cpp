#include "codegen/emit/recorder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/emit/places.h"
#include "codegen/emit/walk.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kWindow = 16;         ///< iterations
constexpr std::int64_t kWarmIterations = 8;  ///< of the steady loop that are let pass first, where there are enough
constexpr std::size_t kMostPoints = std::size_t{1} << kRecordPointBits;

using Kind = RecordEvent::Kind;

const Section* steady_of(const Role& role) {
  for (const Section& section : role.sections)
    if (section.loop && section.part == Section::Part::Steady) return &section;
  return nullptr;
}

/// The load, and its iteration after the loop's counter, that a wait for a full barrier is about.
std::optional<std::pair<OpRef, std::int64_t>> load_behind(const EmitContext& emit, const Step& step) {
  if (step.kind != StepKind::Wait || !emit.program.barriers[step.barrier].full) return std::nullopt;
  const std::size_t value = emit.program.barriers[step.barrier].value;
  const TileOp& reader = op_of(emit.kernel, step.op);
  for (std::size_t k = 0; k < emit.kernel.body.size(); ++k) {
    const auto& outputs = emit.kernel.body[k].outputs;
    if (std::find(outputs.begin(), outputs.end(), emit.kernel.values[value].name) == outputs.end()) continue;
    for (const Operand& input : reader.inputs)
      if (input.value == emit.kernel.values[value].name)
        return std::pair{OpRef{OpRef::List::Body, k}, step.iteration - emit.section->first - input.distance};
  }
  return std::nullopt;
}

}  // namespace

RecordPlan plan_records(const Program& program, Recording recording) {
  RecordPlan plan;
  plan.recording = recording;
  plan.warps = program.threads / 32;
  std::int64_t first = 0, last = program.trips, most = 0;
  for (const Role& role : program.roles)
    if (const Section* steady = steady_of(role)) {
      first = std::max(first, steady->first);
      last = std::min(last, steady->first + steady->times * steady->unroll);
      most = std::max(most, steady->times * steady->unroll);
    }
  plan.loop_iterations = most;
  plan.iterations = std::clamp<std::int64_t>(last - first, 1, kWindow);
  plan.first_iteration = first + std::clamp<std::int64_t>((last - first - plan.iterations) / 2, 0, kWarmIterations);
  // A role's slice holds its window whole; the largest decides, so that slices are alike.
  std::int64_t capacity = 2;
  if (recording == Recording::Ops)
    for (const Role& role : program.roles)
      if (const Section* steady = steady_of(role))
        capacity = std::max<std::int64_t>(
            capacity, (2 * static_cast<std::int64_t>(steady->steps.size()) + 2) * (plan.iterations / steady->unroll + 1));
  plan.capacity = static_cast<int>(capacity);
  return plan;
}

std::string record_head(const EmitContext& emit, const char* what) {
  return fmt::format("if (blockIdx.x < {}) {}(records + (u64)blockIdx.x * {});", emit.records->blocks, what,
                     kRecordHead + emit.records->warps * emit.records->capacity);
}

void begin_records(EmitContext& emit) {
  emit.recording = {};
  if (!emit.records || !steady_of(*emit.role)) return;
  const int words = kRecordHead + emit.records->warps * emit.records->capacity;
  emit.text.line("u64* const record_to = records + (u64)blockIdx.x * {} + {} + (threadIdx.x >> 5) * {};", words, kRecordHead,
                 emit.records->capacity);
  // The second tile of a block, where there is one, finds caches and rings as they usually are. Tiles with trips of their own are
  // dealt out longest first: only the first is sure to be long.
  const auto [index, count, tiles] = tile_walk(emit);
  const std::string tile =
      emit.program.varies ? fmt::format("(int){}", index) : fmt::format("(int)({0} + ({0} + {1} < {2} ? {1} : 0))", index, count, tiles);
  emit.text.line("const int record_tile = {}blockIdx.x < {} ? {} : -1;", emit.one_thread ? "" : "lane == 0 && ", emit.records->blocks,
                 tile);
  emit.text.line("u32 record_at = {};", emit.records->capacity);
}

void record_loop(EmitContext& emit, bool begins) {
  if (!emit.records || emit.section->part != Section::Part::Steady || emit.records->recording != Recording::Loop) return;
  if (begins) emit.text.line("if (tile == record_tile) record_at = 0;");
  emit.recording.events.push_back({begins ? Kind::LoopBegin : Kind::LoopEnd, {}, 0});
  flush_records(emit, begins ? std::to_string(emit.section->first) : end_text(emit, *emit.section));
}

void record_pass(EmitContext& emit) {
  if (!recording_ops(emit)) return;
  std::int64_t window = emit.section->first;
  while (window < emit.records->first_iteration) window += emit.section->unroll;
  emit.text.line("if (i == {} && tile == record_tile) record_at = 0;", window);
}

bool recording_ops(const EmitContext& emit) {
  return emit.records && emit.records->recording == Recording::Ops && emit.section->loop && emit.section->part == Section::Part::Steady;
}

void flush_records(EmitContext& emit, const std::string& iteration) {
  if (emit.recording.events.empty()) return;
  if (emit.records->points.size() == kMostPoints) {
    emit.refusals.push_back({"records", {}, fmt::format("the kernel has more than {} points to record", kMostPoints), std::nullopt});
    emit.recording.events.clear();
    return;
  }
  std::string names;
  for (const RecordEvent& e : emit.recording.events) {
    static constexpr const char* kWords[] = {"loop begins", "loop ends", "begin", "end", "wait for", "got"};
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kWords[static_cast<int>(e.kind)]);
    if (e.kind != Kind::LoopBegin && e.kind != Kind::LoopEnd) names += " " + safe_name(op_of(emit.kernel, e.op).name);
  }
  emit.text.line("record(record_to, record_at, {}, {} + ({} << {}));  // {}", emit.records->capacity, emit.records->points.size(),
                 iteration, kRecordPointBits, names);
  emit.records->points.push_back({emit.role_index, std::move(emit.recording.events)});
  emit.recording.events.clear();
}

void record_before(EmitContext& emit, const Step& step) {
  if (!emit.records) return;
  const bool steady = recording_ops(emit);
  const std::int64_t iteration = step.iteration - emit.section->first;
  if (steady && step.op.list == OpRef::List::Body) {
    if (step.kind == StepKind::Compute || step.kind == StepKind::Issue) emit.recording.events.push_back({Kind::Begin, step.op, iteration});
    if (const auto load = load_behind(emit, step); load && step.kind == StepKind::Wait)
      emit.recording.events.push_back({Kind::WaitBegin, load->first, load->second});
  }
  if (steady) flush_records(emit, "i");
}

void record_after(EmitContext& emit, const Step& step) {
  if (!emit.records) return;
  // Groups are followed from the filling of the pipeline on; iterations are those of a first pass wherever a step stands.
  if (step.kind == StepKind::Issue && step.engine != Engine::Load) emit.recording.open.push_back(&step);
  if (step.kind == StepKind::Commit) emit.recording.flying.push_back(std::exchange(emit.recording.open, {}));
  if (step.kind == StepKind::Retire)
    while (emit.recording.flying.size() > static_cast<std::size_t>(step.keep)) {
      for (const Step* done : emit.recording.flying.front())
        if (recording_ops(emit) && done->op.list == OpRef::List::Body)
          emit.recording.events.push_back({Kind::End, done->op, done->iteration - emit.section->first});
      emit.recording.flying.pop_front();
    }
  if (!recording_ops(emit) || step.op.list != OpRef::List::Body) return;
  const std::int64_t iteration = step.iteration - emit.section->first;
  // What is loaded from tensor memory is there when it has been waited for.
  if (step.kind == StepKind::AwaitReads)
    for (const Step* load : std::exchange(emit.recording.loading, {}))
      emit.recording.events.push_back({Kind::End, load->op, load->iteration - emit.section->first});
  if (step.kind == StepKind::Compute && op_of(emit.kernel, step.op).kind == "tmem_load") {
    emit.recording.loading.push_back(&step);
  } else if (step.kind == StepKind::Compute) {
    if (step.output.kind == Place::Kind::Variable && emit.tiles.values[step.output.value].layout) {
      Place newest = step.output;
      if (emit.role->variables[newest.index].moves) newest.copy = 0;
      emit.text.line("{}({});", emit.tiles.values[step.output.value].packed ? "keep" : "pin", register_text(emit, newest));
    }
    emit.recording.events.push_back({Kind::End, step.op, iteration});
  }
  if (const auto load = load_behind(emit, step); load && step.kind == StepKind::Wait)
    emit.recording.events.push_back({Kind::WaitEnd, load->first, load->second});
  // What ends here and what begins next share a record: it is written by whoever comes next.
}

}  // namespace heddle::codegen
