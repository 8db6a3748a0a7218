#include "codegen/emit/records.h"

#include <algorithm>

#include "codegen/emit/writer.h"

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

}  // namespace

void Writer::plan_records(Recording recording) {
  records_ = RecordPlan{};
  records_->recording = recording;
  records_->warps = program_.threads / 32;
  std::int64_t first = 0, last = program_.trips, most = 0;
  for (const Role& role : program_.roles)
    if (const Section* steady = steady_of(role)) {
      first = std::max(first, steady->first);
      last = std::min(last, steady->first + steady->times * steady->unroll);
      most = std::max(most, steady->times * steady->unroll);
    }
  records_->loop_iterations = most;
  records_->iterations = std::clamp<std::int64_t>(last - first, 1, kWindow);
  records_->first_iteration = first + std::clamp<std::int64_t>((last - first - records_->iterations) / 2, 0, kWarmIterations);
  // A role's slice holds its window whole; the largest decides, so that slices are alike.
  std::int64_t capacity = 2;
  if (recording == Recording::Ops)
    for (const Role& role : program_.roles)
      if (const Section* steady = steady_of(role))
        capacity = std::max<std::int64_t>(
            capacity, (2 * static_cast<std::int64_t>(steady->steps.size()) + 2) * (records_->iterations / steady->unroll + 1));
  records_->capacity = static_cast<int>(capacity);
}

std::string Writer::record_head(const char* what) const {
  return fmt::format("if (blockIdx.x < {}) {}(records + (u64)blockIdx.x * {});", records_->blocks, what,
                     kRecordHead + records_->warps * records_->capacity);
}

void Writer::begin_records(const Role& role) {
  record_flying_.clear();
  record_open_.clear();
  record_events_.clear();
  record_loading_.clear();
  if (!records_ || !steady_of(role)) return;
  const int words = kRecordHead + records_->warps * records_->capacity;
  line("u64* const record_to = records + (u64)blockIdx.x * {} + {} + (threadIdx.x >> 5) * {};", words, kRecordHead, records_->capacity);
  // The second tile of a block, where there is one, finds caches and rings as they usually are. Tiles with trips of their own are
  // dealt out longest first: only the first is sure to be long.
  const auto [index, count, tiles] = tile_walk();
  const std::string tile =
      program_.varies ? fmt::format("(int){}", index) : fmt::format("(int)({0} + ({0} + {1} < {2} ? {1} : 0))", index, count, tiles);
  line("const int record_tile = {}blockIdx.x < {} ? {} : -1;", one_thread_ ? "" : "lane == 0 && ", records_->blocks, tile);
  line("u32 record_at = {};", records_->capacity);
}

void Writer::record_loop(bool begins) {
  if (!records_ || section_->part != Section::Part::Steady || records_->recording != Recording::Loop) return;
  if (begins) line("if (tile == record_tile) record_at = 0;");
  record_events_.push_back({begins ? Kind::LoopBegin : Kind::LoopEnd, {}, 0});
  flush_records(begins ? std::to_string(section_->first) : end_text(*section_));
}

void Writer::record_pass() {
  if (!recording_ops()) return;
  std::int64_t window = section_->first;
  while (window < records_->first_iteration) window += section_->unroll;
  line("if (i == {} && tile == record_tile) record_at = 0;", window);
}

bool Writer::recording_ops() const {
  return records_ && records_->recording == Recording::Ops && section_->loop && section_->part == Section::Part::Steady;
}

void Writer::flush_records(const std::string& iteration) {
  if (record_events_.empty()) return;
  if (records_->points.size() == kMostPoints) {
    refusals_.push_back({"records", {}, fmt::format("the kernel has more than {} points to record", kMostPoints), std::nullopt});
    record_events_.clear();
    return;
  }
  std::string names;
  for (const RecordEvent& e : record_events_) {
    static constexpr const char* kWords[] = {"loop begins", "loop ends", "begin", "end", "wait for", "got"};
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kWords[static_cast<int>(e.kind)]);
    if (e.kind != Kind::LoopBegin && e.kind != Kind::LoopEnd) names += " " + named(op_of(kernel_, e.op));
  }
  line("record(record_to, record_at, {}, {} + ({} << {}));  // {}", records_->capacity, records_->points.size(), iteration,
       kRecordPointBits, names);
  records_->points.push_back({role_index_, std::move(record_events_)});
  record_events_.clear();
}

void Writer::record_before(const Step& step) {
  if (!records_) return;
  const bool steady = recording_ops();
  const std::int64_t iteration = step.iteration - section_->first;
  if (steady && step.op.list == OpRef::List::Body) {
    if (step.kind == StepKind::Compute || step.kind == StepKind::Issue) record_events_.push_back({Kind::Begin, step.op, iteration});
    if (const auto load = load_behind(step); load && step.kind == StepKind::Wait)
      record_events_.push_back({Kind::WaitBegin, load->first, load->second});
  }
  if (steady) flush_records("i");
}

void Writer::record_after(const Step& step) {
  if (!records_) return;
  // Groups are followed from the filling of the pipeline on; iterations are those of a first pass wherever a step stands.
  if (step.kind == StepKind::Issue && step.engine != Engine::Load) record_open_.push_back(&step);
  if (step.kind == StepKind::Commit) record_flying_.push_back(std::exchange(record_open_, {}));
  if (step.kind == StepKind::Retire)
    while (record_flying_.size() > static_cast<std::size_t>(step.keep)) {
      for (const Step* done : record_flying_.front())
        if (recording_ops() && done->op.list == OpRef::List::Body)
          record_events_.push_back({Kind::End, done->op, done->iteration - section_->first});
      record_flying_.pop_front();
    }
  if (!recording_ops() || step.op.list != OpRef::List::Body) return;
  const std::int64_t iteration = step.iteration - section_->first;
  // What is loaded from tensor memory is there when it has been waited for.
  if (step.kind == StepKind::AwaitReads)
    for (const Step* load : std::exchange(record_loading_, {}))
      record_events_.push_back({Kind::End, load->op, load->iteration - section_->first});
  if (step.kind == StepKind::Compute && op_of(kernel_, step.op).kind == "tmem_load") {
    record_loading_.push_back(&step);
  } else if (step.kind == StepKind::Compute) {
    if (step.output.kind == Place::Kind::Variable && values_[step.output.value].layout) {
      Place newest = step.output;
      if (role_->variables[newest.index].moves) newest.copy = 0;
      line("{}({});", values_[step.output.value].packed ? "keep" : "pin", register_text(newest));
    }
    record_events_.push_back({Kind::End, step.op, iteration});
  }
  if (const auto load = load_behind(step); load && step.kind == StepKind::Wait)
    record_events_.push_back({Kind::WaitEnd, load->first, load->second});
  // What ends here and what begins next share a record: it is written by whoever comes next.
}

/// The load, and its iteration after the loop's counter, that a wait for a full barrier is about.
std::optional<std::pair<OpRef, std::int64_t>> Writer::load_behind(const Step& step) const {
  if (step.kind != StepKind::Wait || !program_.barriers[step.barrier].full) return std::nullopt;
  const std::size_t value = program_.barriers[step.barrier].value;
  const TileOp& reader = op_of(kernel_, step.op);
  for (std::size_t k = 0; k < kernel_.body.size(); ++k) {
    const auto& outputs = kernel_.body[k].outputs;
    if (std::find(outputs.begin(), outputs.end(), kernel_.values[value].name) == outputs.end()) continue;
    for (const Operand& input : reader.inputs)
      if (input.value == kernel_.values[value].name)
        return std::pair{OpRef{OpRef::List::Body, k}, step.iteration - section_->first - input.distance};
  }
  return std::nullopt;
}

}  // namespace heddle::codegen
