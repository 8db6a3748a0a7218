// The queue of a CTA's tensor core has components of its own: products read shared memory and tensor memory and write tensor memory as one
// of them; a commit hands its epoch to a barrier when it is reached.
#include "ptx/units/tensor_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/judge/reference.h"
#include "ptx/units/lane_reader.h"
#include "ptx/units/tensor_form.h"
#include "ptx/units/tensor_unit.h"

namespace heddle::ptx {
namespace {

/// One piece of work of the tensor core, issued by one lane.
struct TensorWork {
  ClusterRun& run;
  WarpFragment& fragment;
  const PtxInstruction& instruction;
  LaneReader reader;
  Barriers::By by;
  Component component = 0;  ///< of the queue
  Epoch epoch = 0;
  int ctas = 1;
  KnownClocks known;  ///< of tensor memory

  Warp& warp() const { return run.warp_of(fragment); }
  TensorQueue& queue() const { return tensor_unit(run).queues[static_cast<std::size_t>(warp().cta)]; }
  ShadowAccess access(Proxy proxy, const char* what) const {
    ShadowAccess access{component, epoch, proxy, by.pc, by.warp, what};
    access.cycle = by.cycle;
    return access;
  }
  /// CTAs that take part: its own, and the other of the pair.
  std::vector<int> members() const {
    if (ctas == 1) return {warp().cta};
    return {warp().cta & ~1, warp().cta | 1};
  }
};

TensorWork work_of(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, int lane) {
  TensorWork work{run, fragment, instruction, LaneReader(run, fragment, instruction, lane), run.by(fragment, instruction), 0, 0, 1, {}};
  work.ctas = ctas_of(run, fragment, instruction);
  work.known = tensor_known(run, work.warp());
  work.component = work.queue().component;
  return work;
}

/// Copies and shifts are in order with all products (that a copy follows the products before it, the ISA does not say, and everybody's
/// scaled products rely on). Products are only with those of their own accumulator and shape: others are begun, but need not be over.
void order_copy(TensorWork& work) {
  work.queue().raise(work.known.seen, work.queue().issued);
  work.queue().raise(work.known.tensor, work.queue().issued);
}

void order_product(TensorWork& work, std::uint64_t accumulator, const TensorShape& shape) {
  TensorQueue& queue = work.queue();
  const auto same = [&](const TensorQueue::Pipeline& one) {
    return one.accumulator == accumulator && one.m == shape.m && one.n == shape.n && one.k == shape.k;
  };
  auto found = std::ranges::find_if(queue.pipelines, same);
  if (found == queue.pipelines.end()) {
    const Component component = work.run.components.add(work.run.components.name(queue.component));
    found = queue.pipelines.insert(found, {accumulator, shape.m, shape.n, shape.k, component});
  }
  work.component = found->component;
  queue.raise(work.known.seen, queue.issued);
  work.known.tensor.raise(queue.component, queue.issued);
}

/// The next in the queue: `busy` of the tensor core.
Time enqueue(TensorWork& work, Time busy) {
  TensorQueue& queue = work.queue();
  WarpTensor& tensor = tensor_of(work.run, work.warp());
  work.epoch = ++queue.issued;
  tensor.issued = work.epoch;
  const Time start = std::max(work.fragment.time, queue.free);
  tensor.end = queue.free = start + busy;
  work.fragment.time += work.run.costs.product_issue;
  return start;
}

void read_cells(TensorWork& work, const TensorCells& cells, const char* what) {
  for (const int cta : work.members())
    tensor_unit(work.run).memories[static_cast<std::size_t>(cta)].read({&cells, 1}, work.access(Proxy::Async, what), work.known, work.by);
}

void write_cells(TensorWork& work, const TensorCells& cells, const char* what) {
  for (const int cta : work.members())
    tensor_unit(work.run).memories[static_cast<std::size_t>(cta)].write({&cells, 1}, work.access(Proxy::Async, what), work.known, work.by);
}

void read_shared(TensorWork& work, const MatrixPlace& place, const MatrixExtent& extent, const char* what) {
  const std::vector<ByteRange>& ranges = tensor_unit(work.run).footprints.of(place, extent);
  if (ranges.empty()) return;
  if (ranges.back().end > work.run.shared_bytes()) {
    work.run.find(CheckRule::OutOfShared, work.fragment, work.instruction,
                  fmt::format("{} reaches to byte {}, beyond the {}", what, ranges.back().end, work.run.shared_text()));
    return;
  }
  for (const int cta : work.members())
    work.run.shadows[static_cast<std::size_t>(cta)].read(ranges, work.access(Proxy::Async, what), work.warp().known);
}

Time time_of(ClusterRun& run, const TensorForm& form, const TensorShape& shape) {
  const PtxProductSize size{shape.rows_of_cta(), shape.n, shape.k, form.shared_bits, form.a_in_memory};
  const auto [time, is_new] = tensor_unit(run).times.try_emplace(size);
  if (is_new) time->second = product_time(run.costs, size);
  return time->second;
}

struct ProductOperands {
  std::uint64_t d = 0, a = 0, b = 0;
  std::uint64_t scale_a = 0, scale_b = 0;
  bool adds = true;  ///< D is an operand, too
};

/// False where the run was stopped.
bool read_operands(TensorWork& work, const TensorForm& form, ProductOperands& operands, TensorShape& shape) {
  LaneReader& reader = work.reader;
  operands.d = reader.need(std::size_t{0}, "the address of D in tensor memory");
  operands.a = reader.need(1, form.a_in_memory ? "the address of operand A in tensor memory" : "the descriptor of operand A");
  operands.b = reader.need(2, "the descriptor of operand B");
  const std::uint64_t descriptor = reader.need(3, "the instruction descriptor");
  if (form.scaled) {
    operands.scale_a = reader.need(4, "the address of A's scales in tensor memory");
    operands.scale_b = reader.need(5, "the address of B's scales in tensor memory");
  }
  if (reader.stopped()) return false;
  if (form.enable_at < work.instruction.operands.size()) {
    const PtxOperand& enable = work.instruction.operands[form.enable_at];
    operands.adds = reader.ask(enable).value_or(1) != 0;
  }
  shape = tensor_shape(form, static_cast<std::uint32_t>(descriptor), work.ctas);
  if (shape.sparse) work.run.stop(work.instruction, "sparse tcgen05.mma is not known");
  return !reader.stopped();
}

void judge_product(TensorWork& work, const TensorForm& form, const TensorShape& shape, const ProductOperands& operands) {
  const int k_bytes = shape.k * form.shared_bits / 8;
  read_shared(work, tcgen05_place(operands.b, shape.b_transposed), {shape.columns_of_cta(), k_bytes, form.shared_bits},
              "product's operand B");
  if (form.a_in_memory)
    read_cells(work, operand_cells(form, shape, operands.a), "product's operand A");
  else
    read_shared(work, tcgen05_place(operands.a, shape.a_transposed), {shape.rows_of_cta(), k_bytes, form.shared_bits},
                "product's operand A");
  if (form.scaled) {
    read_cells(work, scale_cells(shape.rows_of_cta(), operands.scale_a), "product's scales of A");
    read_cells(work, scale_cells(shape.n, operands.scale_b), "product's scales of B");
  }
  const TensorCells result = result_cells(form, shape, operands.d);
  if (operands.adds) read_cells(work, result, "product that adds");
  write_cells(work, result, "product");
}

void one_product(TensorWork work) {
  ClusterRun& run = work.run;
  const TensorForm form = tensor_form(work.instruction);
  if (!form.known || work.instruction.has("sp")) {
    run.stop(work.instruction,
             form.known ? "sparse tcgen05.mma is not known" : fmt::format("the kind of {} is not known", work.instruction.mnemonic));
    return;
  }
  ProductOperands operands;
  TensorShape shape;
  if (!read_operands(work, form, operands, shape)) return;
  if (const std::string wrong = wrong_shape(form, shape); !wrong.empty()) {
    run.find(CheckRule::ProductShape, work.fragment, work.instruction, wrong);
    if (shape.m == 0 || shape.n == 0) return;
  }
  const Time issued = work.fragment.time;
  order_product(work, operands.d, shape);
  const Time start = enqueue(work, time_of(run, form, shape));
  judge_product(work, form, shape, operands);
  if (RunEvent* event = run.event(EventKind::Product, work.fragment, work.instruction)) {
    event->issued = issued;
    event->begin = start;
    event->end = work.queue().free;
    event->address = operands.d;
    event->rows = shape.m;
    event->columns = shape.n;
    event->depth = shape.k;
    event->operand_a = operands.a;
    event->operand_b = operands.b;
  }
}

/// Rows and bytes of a row of tcgen05.cp, and what it writes: all lanes, or the first of each warp's lanes.
struct CopyShape {
  int rows = 0, bytes = 0;
  std::uint8_t sixteens = 0xFF;
};

CopyShape copy_shape(const PtxInstruction& instruction) {
  if (instruction.has("128x256b")) return {128, 32, 0xFF};
  if (instruction.has("4x256b")) return {4, 32, 0x55};
  if (instruction.has("128x128b")) return {128, 16, 0xFF};
  if (instruction.has("64x128b")) return {64, 16, 0xFF};
  if (instruction.has("32x128b")) return {32, 16, 0xFF};
  return {};
}

void one_commit(TensorWork work) {
  ClusterRun& run = work.run;
  const std::uint64_t address = work.reader.need(std::size_t{0}, "the address of the mbarrier");
  const bool multicast = work.instruction.has("multicast::cluster");
  const std::uint64_t mask = multicast ? work.reader.need(1, "the mask of the multicast") & 0xFFFF : 0;
  if (work.reader.stopped()) return;
  if (multicast && (mask == 0 || mask >> run.cluster_size() != 0))
    run.find(CheckRule::Multicast, work.fragment, work.instruction,
             fmt::format("the mask {:#x} names CTAs that a cluster of {} does not have", mask, run.cluster_size()));
  std::vector<std::uint64_t> targets;
  if (!multicast) targets.push_back(address);
  for (std::uint64_t cta = 0; cta < static_cast<std::uint64_t>(run.cluster_size()); ++cta)
    if ((mask >> cta & 1) != 0) targets.push_back(byte_of(address) | cta << kCtaShift);
  const WarpTensor& tensor = tensor_of(run, work.warp());
  // What its work was ordered behind is over when its work is. It says fence::before_thread_sync by itself.
  KnownClocks brought = work.warp().release();
  work.queue().raise(brought.seen, tensor.issued);
  work.queue().raise(brought.tensor, tensor.issued);
  const Time end = std::max(work.fragment.time + 10 * kCycle, tensor.end + run.costs.product_drain);
  for (const std::uint64_t target : targets) {
    const Mbarrier* barrier = run.barriers.use(target, work.by, work.warp().known);
    if (barrier == nullptr) continue;
    if (RunEvent* event = run.event(EventKind::ProductCommit, work.fragment, work.instruction)) {
      event->address = event->barrier = target;
      event->amount = 1;
      event->phase = static_cast<std::int32_t>(barrier->phase - barrier->first);
    }
    run.at(end, [&run, by = work.by, target, brought] {
      Barriers::By later = by;
      later.cycle = run.now() / kCycle;
      Mbarrier* there = run.barriers.use(target, later, run.warps[static_cast<std::size_t>(by.warp)].known);
      if (there != nullptr) run.wake(run.barriers.arrive(*there, 1, 0, brought, later), run.now());
    });
  }
  work.fragment.time += 10 * kCycle;
}

}  // namespace

ActionEnd tensor_product(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  for (const int lane : lanes_apart(run, fragment, instruction, lanes, true)) {
    one_product(work_of(run, fragment, instruction, lane));
    if (run.stopped()) break;
  }
  return ActionEnd::Go;
}

ActionEnd tensor_copy(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const CopyShape shape = copy_shape(instruction);
  if (shape.rows == 0) {
    run.stop(instruction, fmt::format("the shape of {} is not known", instruction.mnemonic));
    return ActionEnd::Go;
  }
  for (const int lane : lanes_apart(run, fragment, instruction, lanes, true)) {
    TensorWork work = work_of(run, fragment, instruction, lane);
    const std::uint64_t to = work.reader.need(std::size_t{0}, "the address in tensor memory");
    const std::uint64_t from = work.reader.need(1, "the descriptor of what is copied");
    if (work.reader.stopped()) break;
    const Time issued = fragment.time;
    order_copy(work);
    const Time start = enqueue(work, 16 * kCycle);
    read_shared(work, tcgen05_place(from, false), {shape.rows, shape.bytes, 8}, "tcgen05.cp");
    write_cells(work, {shape.sixteens, column_of(to), shape.bytes / 4}, "tcgen05.cp");
    if (RunEvent* event = run.event(EventKind::TensorCopy, fragment, instruction)) {
      event->issued = issued;
      event->begin = start;
      event->end = work.queue().free;
      event->address = to;
      event->amount = static_cast<std::int64_t>(shape.rows) * shape.bytes;
      event->operand_a = from;
    }
  }
  return ActionEnd::Go;
}

ActionEnd tensor_shift(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  for (const int lane : lanes_apart(run, fragment, instruction, lanes, true)) {
    TensorWork work = work_of(run, fragment, instruction, lane);
    const std::uint64_t at = work.reader.need(std::size_t{0}, "the address in tensor memory");
    if (work.reader.stopped()) break;
    order_copy(work);
    enqueue(work, 16 * kCycle);
    constexpr int kColumns = 8;  // 32 bytes of each row
    const TensorCells cells{0xFF, column_of(at), kColumns};
    read_cells(work, cells, "tcgen05.shift");
    write_cells(work, cells, "tcgen05.shift");
  }
  return ActionEnd::Go;
}

ActionEnd tensor_commit(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  for (const int lane : lanes_apart(run, fragment, instruction, lanes, true)) {
    one_commit(work_of(run, fragment, instruction, lane));
    if (run.stopped()) break;
  }
  return ActionEnd::Go;
}

}  // namespace heddle::ptx
