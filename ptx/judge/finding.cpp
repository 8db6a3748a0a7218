#include "ptx/judge/finding.h"

#include <array>

namespace heddle::ptx {
namespace {

constexpr std::array kRules = {
    RuleRow{
        CheckRule::Hang, Rank::Wrong, "hang", "hang", "9.7.13.15.16",
        "Every wait ends: somebody who can still run makes the arrivals, brings the bytes, comes to the barrier or gives the registers."},
    RuleRow{CheckRule::ArrivalsOverCount, Rank::Wrong, "arrivals over count", "arrivals_over_count", "9.7.13.15.7",
            "A phase of an mbarrier gets as many arrivals as its count says and no more."},
    RuleRow{CheckRule::BytesLeft, Rank::Wrong, "bytes left", "bytes_left", "9.7.13.15.5",
            "The bytes that a phase of an mbarrier expects are those that its copies bring: none are left when the kernel ends."},
    RuleRow{CheckRule::ReadBeforeReady, Rank::Wrong, "read before ready", "read_before_ready", "8.7.1",
            "What is read was written, and the reader has waited for the write: by a barrier, a wait for the copy, or its own order."},
    RuleRow{CheckRule::OverwriteBeforeRead, Rank::Wrong, "overwrite before read", "overwrite_before_read", "8.7.1",
            "Who writes has waited for all who may still read what was there. Between reads by threads and a write by the async proxy the "
            "memory "
            "model asks for a proxy fence, too; programs of NVIDIA's own arrive at the EMPTY barrier without one, so that is no finding."},
    RuleRow{
        CheckRule::WriteOverWrite, Rank::Wrong, "write over write", "write_over_write", "8.7.1",
        "Two writes of the same bytes are in an order that both sides know. That all warps store one value at one place is no finding."},
    RuleRow{
        CheckRule::MissingProxyFence, Rank::Wrong, "missing proxy fence", "missing_proxy_fence", "9.7.9.25.2",
        "What threads wrote is read or written by the async proxy (bulk copies, products) only behind a fence.proxy.async that follows the "
        "write."},
    RuleRow{CheckRule::RegisterInFlight, Rank::Wrong, "register in flight", "register_in_flight", "9.7.15.7.3",
            "Registers of a product (accumulators, operand A) are not touched between its issue and the wgmma.wait_group that covers it."},
    RuleRow{CheckRule::MissingProductFence, Rank::Wrong, "missing product fence", "missing_product_fence", "9.7.15.7.1",
            "A wgmma.fence stands before the first product, and before each product whose registers were touched since the last one."},
    RuleRow{CheckRule::BarrierBeforeMade, Rank::Wrong, "barrier before it is made known", "barrier_before_made", "9.7.13.15.9",
            "An mbarrier is used by other warps only after something that orders them behind its init."},
    RuleRow{CheckRule::BarrierNotMade, Rank::Wrong, "barrier not made", "barrier_not_made", "9.7.13.15.3",
            "Every operation on an mbarrier finds one that was made by mbarrier.init and not invalidated since."},
    RuleRow{CheckRule::BarrierCount, Rank::Wrong, "barrier count", "barrier_count", "9.7.13.15.2",
            "The count of an mbarrier is 1 to 2^20 - 1, and so is that of an arrival; its bytes to come stay within 2^20 - 1."},
    RuleRow{
        CheckRule::BarrierPlace, Rank::Wrong, "barrier place", "barrier_place", "9.7.13.15.3",
        "The eight bytes of an mbarrier hold nothing else until mbarrier.inval, which comes behind all waits: no second init, no copy, no "
        "store."},
    RuleRow{CheckRule::NamedBarrierCount, Rank::Wrong, "named barrier count", "named_barrier_count", "9.7.13.1",
            "A named barrier is one of 0 to 15; all who come to it say the same number of threads, a multiple of 32, and as many come."},
    RuleRow{CheckRule::RegisterPool, Rank::Wrong, "register pool", "register_pool", "9.7.19.5",
            "setmaxnreg asks for a multiple of 8 from 24 to 256, .dec for no more and .inc for no fewer than the warp has; the sum fits "
            "the CTA's."},
    RuleRow{CheckRule::TensorMemoryRace, Rank::Wrong, "tensor memory race", "tensor_memory_race", "9.7.16.6",
            "Cells of tensor memory are read and overwritten only by who has waited for their last writer and readers."},
    RuleRow{CheckRule::TensorMemoryLanes, Rank::Wrong, "tensor memory lanes", "tensor_memory_lanes", "9.7.16.8.1",
            "A warp reaches the 32 lanes of tensor memory that begin at 32 times its number modulo 4, and no others."},
    RuleRow{
        CheckRule::TensorMemoryColumns, Rank::Wrong, "tensor memory columns", "tensor_memory_columns", "9.7.16.7.1",
        "Tensor memory is allocated in powers of two from 32 to 512 columns, freed once as it was allocated, and used only in between."},
    RuleRow{CheckRule::TensorMemoryNotFreed, Rank::Wrong, "tensor memory not freed", "tensor_memory_not_freed", "9.7.16.7.1",
            "All tensor memory is freed before the kernel ends."},
    RuleRow{CheckRule::OutOfShared, Rank::Wrong, "out of shared memory", "out_of_shared", "5.1.7",
            "Addresses of shared memory lie within what the CTA has, and CTAs of addresses within the cluster."},
    RuleRow{CheckRule::OutOfGlobal, Rank::Wrong, "out of global memory", "out_of_global", "5.1.4",
            "Addresses of global memory lie within a buffer of the launch."},
    RuleRow{
        CheckRule::Misaligned, Rank::Wrong, "misaligned", "misaligned", "6.4.1",
        "Addresses are multiples of what the instruction asks for: the access's size, 8 bytes of an mbarrier, 16 or 128 of a bulk copy."},
    RuleRow{CheckRule::NotConverged, Rank::Wrong, "not converged", "not_converged", "9.7.15.5.2",
            "An instruction with .aligned is executed by all threads of the warp (wgmma: of the warp group) together."},
    RuleRow{CheckRule::Multicast, Rank::Wrong, "multicast", "multicast", "9.7.9.25.5.2",
            "The mask of a multicast names CTAs that are in the cluster."},
    RuleRow{CheckRule::ExitWhileWaited, Rank::Wrong, "exit while others wait", "exit_while_waited", "9.7.13.1",
            "A warp exits only when nobody waits for it any more."},
    RuleRow{CheckRule::NotCommitted, Rank::Wrong, "not committed", "not_committed", "9.7.9.25.6.1",
            "Bulk stores and products are committed to a group before the warp waits or exits: no wait covers them otherwise."},
    RuleRow{CheckRule::ProductShape, Rank::Wrong, "product shape", "product_shape", "9.7.15.2",
            "Shapes, types and descriptors of a product are among those that the ISA lists, and all four warps of a group issue the same."},
    RuleRow{CheckRule::Trap, Rank::Wrong, "trap", "trap", "9.7.19.4", "The kernel does not execute trap."},
    RuleRow{CheckRule::NoFenceAfterInit, Rank::Doubtful, "no fence after init", "no_fence_after_init", "9.7.13.4",
            "Between mbarrier.init and the first signal of the async proxy or of another CTA stands a fence (fence.mbarrier_init, "
            "fence.proxy.async)."},
    RuleRow{
        CheckRule::NoFenceBeforeCopy, Rank::Doubtful, "no fence before a copy", "no_fence_before_copy", "9.7.9.25.2",
        "A copy over what threads wrote stands behind a fence.proxy.async, also where threads have read it back in between, so that the "
        "write is surely over."},
    RuleRow{CheckRule::ExitWhileStoring, Rank::Doubtful, "exit while storing", "exit_while_storing", "9.7.9.25.6.2",
            "A warp waits for the reads of its bulk stores before its CTA ends."},
    RuleRow{CheckRule::LoadNotWaited, Rank::Doubtful, "load not waited for", "load_not_waited", "9.7.16.8.5",
            "Registers that tcgen05.ld loads are used behind tcgen05.wait::ld only."},
    RuleRow{
        CheckRule::MissingTensorFence, Rank::Doubtful, "missing tensor fence", "missing_tensor_fence", "9.7.16.6.4",
        "Between threads, tcgen05.fence::before_thread_sync stands behind accesses of tensor memory before who did them is waited for, and "
        "::after_thread_sync between the wait and the next access."},
    RuleRow{CheckRule::ProductOrder, Rank::Doubtful, "order of products", "product_order", "9.7.16.6.2",
            "A tcgen05.mma that reaches tensor memory of another one with another accumulator or shape waits for that one's commit."},
    RuleRow{CheckRule::PartialPhase, Rank::Doubtful, "phase left half done", "partial_phase", "9.7.13.15.6",
            "No phase of an mbarrier is left with some of its arrivals made and others missing when the kernel ends."},
    RuleRow{CheckRule::UnorderedStores, Rank::Doubtful, "unordered stores", "unordered_stores", "8.7.1",
            "Lanes of one warp, and warps in global memory, do not store different values at one address with nothing that orders them: "
            "which one stays is not said."},
    RuleRow{CheckRule::ManyLanesIssue, Rank::Note, "many lanes issue", "many_lanes_issue", "9.7.9.25.4.1",
            "Each lane that executes a bulk copy issues one by the text; the hardware issues one for a warp where all say the same."},
};

constexpr bool rows_in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i)
    if (kRules[i].rule != static_cast<CheckRule>(i)) return false;
  return kRules.size() == static_cast<std::size_t>(CheckRule::ManyLanesIssue) + 1;
}
static_assert(rows_in_order());

}  // namespace

std::span<const RuleRow> rule_rows() { return kRules; }
const RuleRow& row_of(CheckRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

std::size_t Findings::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = static_cast<std::uint64_t>(key.rule) * 0x9E3779B97F4A7C15ull;
  hash = (hash ^ static_cast<std::uint32_t>(key.pc)) * 0x9E3779B97F4A7C15ull;
  return static_cast<std::size_t>((hash ^ static_cast<std::uint64_t>(key.other)) * 0x9E3779B97F4A7C15ull >> 16);
}

void Findings::add(CheckFinding finding, std::int64_t other) {
  if (again(finding.rule, finding.pc, other)) return;
  places_.emplace(Key{finding.rule, finding.pc, other}, all_.size());
  all_.push_back(std::move(finding));
}

bool Findings::again(CheckRule rule, int pc, std::int64_t other) {
  const auto found = places_.find({rule, pc, other});
  if (found == places_.end()) return false;
  ++all_[found->second].times;
  return true;
}

}  // namespace heddle::ptx
