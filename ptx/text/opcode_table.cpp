#include <algorithm>
#include <array>

#include "ptx/text/opcode.h"

namespace heddle::ptx {

namespace {

constexpr bool kPure = true, kActs = false;

constexpr std::array kRows = {
    // arithmetic, logic, moves
    OpcodeRow{Opcode::Abs, "abs", "9.7.1.10", kPure},
    OpcodeRow{Opcode::Add, "add", "9.7.1.1", kPure},
    OpcodeRow{Opcode::Addc, "addc", "9.7.2.2", kPure},
    OpcodeRow{Opcode::And, "and", "9.7.8.1", kPure},
    OpcodeRow{Opcode::Bfe, "bfe", "9.7.1.19", kPure},
    OpcodeRow{Opcode::Bfi, "bfi", "9.7.1.20", kPure},
    OpcodeRow{Opcode::Bfind, "bfind", "9.7.1.16", kPure},
    OpcodeRow{Opcode::Bmsk, "bmsk", "9.7.1.22", kPure},
    OpcodeRow{Opcode::Brev, "brev", "9.7.1.18", kPure},
    OpcodeRow{Opcode::Clz, "clz", "9.7.1.15", kPure},
    OpcodeRow{Opcode::Cnot, "cnot", "9.7.8.5", kPure},
    OpcodeRow{Opcode::Copysign, "copysign", "9.7.3.2", kPure},
    OpcodeRow{Opcode::Cos, "cos", "9.7.3.19", kPure},
    OpcodeRow{Opcode::Createpolicy, "createpolicy", "9.7.9.18", kPure},
    OpcodeRow{Opcode::Cvt, "cvt", "9.7.9.21", kPure},
    OpcodeRow{Opcode::Cvta, "cvta", "9.7.9.20", kPure},
    OpcodeRow{Opcode::Div, "div", "9.7.1.8", kPure},
    OpcodeRow{Opcode::Dp2a, "dp2a", "9.7.1.24", kPure},
    OpcodeRow{Opcode::Dp4a, "dp4a", "9.7.1.23", kPure},
    OpcodeRow{Opcode::Ex2, "ex2", "9.7.3.21", kPure},
    OpcodeRow{Opcode::Fma, "fma", "9.7.3.6", kPure},
    OpcodeRow{Opcode::Fns, "fns", "9.7.1.17", kPure},
    OpcodeRow{Opcode::Getctarank, "getctarank", "9.7.9.24", kPure},
    OpcodeRow{Opcode::Isspacep, "isspacep", "9.7.9.19", kPure},
    OpcodeRow{Opcode::Lg2, "lg2", "9.7.3.20", kPure},
    OpcodeRow{Opcode::Lop3, "lop3", "9.7.8.6", kPure},
    OpcodeRow{Opcode::Mad, "mad", "9.7.1.4", kPure},
    OpcodeRow{Opcode::Mad24, "mad24", "9.7.1.6", kPure},
    OpcodeRow{Opcode::Madc, "madc", "9.7.2.6", kPure},
    OpcodeRow{Opcode::Mapa, "mapa", "9.7.9.23", kPure},
    OpcodeRow{Opcode::Max, "max", "9.7.1.13", kPure},
    OpcodeRow{Opcode::Min, "min", "9.7.1.12", kPure},
    OpcodeRow{Opcode::Mov, "mov", "9.7.9.3", kPure},
    OpcodeRow{Opcode::Mul, "mul", "9.7.1.3", kPure},
    OpcodeRow{Opcode::Mul24, "mul24", "9.7.1.5", kPure},
    OpcodeRow{Opcode::Neg, "neg", "9.7.1.11", kPure},
    OpcodeRow{Opcode::Not, "not", "9.7.8.4", kPure},
    OpcodeRow{Opcode::Or, "or", "9.7.8.2", kPure},
    OpcodeRow{Opcode::Popc, "popc", "9.7.1.14", kPure},
    OpcodeRow{Opcode::Prmt, "prmt", "9.7.9.7", kPure},
    OpcodeRow{Opcode::Rcp, "rcp", "9.7.3.13", kPure},
    OpcodeRow{Opcode::Rem, "rem", "9.7.1.9", kPure},
    OpcodeRow{Opcode::Rsqrt, "rsqrt", "9.7.3.16", kPure},
    OpcodeRow{Opcode::Sad, "sad", "9.7.1.7", kPure},
    OpcodeRow{Opcode::Selp, "selp", "9.7.6.3", kPure},
    OpcodeRow{Opcode::Set, "set", "9.7.6.1", kPure},
    OpcodeRow{Opcode::Setp, "setp", "9.7.6.2", kPure},
    OpcodeRow{Opcode::Shf, "shf", "9.7.8.7", kPure},
    OpcodeRow{Opcode::Shl, "shl", "9.7.8.8", kPure},
    OpcodeRow{Opcode::Shr, "shr", "9.7.8.9", kPure},
    OpcodeRow{Opcode::Sin, "sin", "9.7.3.18", kPure},
    OpcodeRow{Opcode::Slct, "slct", "9.7.6.4", kPure},
    OpcodeRow{Opcode::Sqrt, "sqrt", "9.7.3.15", kPure},
    OpcodeRow{Opcode::Sub, "sub", "9.7.1.2", kPure},
    OpcodeRow{Opcode::Subc, "subc", "9.7.2.4", kPure},
    OpcodeRow{Opcode::Szext, "szext", "9.7.1.21", kPure},
    OpcodeRow{Opcode::Tanh, "tanh", "9.7.3.22", kPure},
    OpcodeRow{Opcode::Testp, "testp", "9.7.3.1", kPure},
    OpcodeRow{Opcode::Xor, "xor", "9.7.8.3", kPure},
    // lanes of a warp together: those that hang on the operands of all lanes, and those that hang on which lanes are here
    OpcodeRow{Opcode::Match, "match", "9.7.13.10", kPure},
    OpcodeRow{Opcode::Movmatrix, "movmatrix", "9.7.14.5.17", kPure},
    OpcodeRow{Opcode::Redux, "redux", "9.7.13.12", kPure},
    OpcodeRow{Opcode::Shfl, "shfl", "9.7.9.6", kPure},
    OpcodeRow{Opcode::Vote, "vote", "9.7.13.9", kPure},
    OpcodeRow{Opcode::Activemask, "activemask", "9.7.13.11", kActs},
    OpcodeRow{Opcode::Elect, "elect", "9.7.13.14", kActs},
    // memory
    OpcodeRow{Opcode::Applypriority, "applypriority", "9.7.9.16", kActs},
    OpcodeRow{Opcode::Atom, "atom", "9.7.13.5", kActs},
    OpcodeRow{Opcode::Discard, "discard", "9.7.9.17", kActs},
    OpcodeRow{Opcode::Ld, "ld", "9.7.9.8", kActs},
    OpcodeRow{Opcode::Ldmatrix, "ldmatrix", "9.7.14.5.15", kActs},
    OpcodeRow{Opcode::Ldu, "ldu", "9.7.9.10", kActs},
    OpcodeRow{Opcode::Prefetch, "prefetch", "9.7.9.15", kActs},
    OpcodeRow{Opcode::Prefetch, "prefetchu", "9.7.9.15", kActs},
    OpcodeRow{Opcode::Red, "red", "9.7.13.6", kActs},
    OpcodeRow{Opcode::RedAsync, "red.async", "9.7.13.7", kActs},
    OpcodeRow{Opcode::St, "st", "9.7.9.11", kActs},
    OpcodeRow{Opcode::StAsync, "st.async", "9.7.9.12", kActs},
    OpcodeRow{Opcode::StBulk, "st.bulk", "9.7.9.13", kActs},
    OpcodeRow{Opcode::Stmatrix, "stmatrix", "9.7.14.5.16", kActs},
    // control
    OpcodeRow{Opcode::Bra, "bra", "9.7.12.3", kActs},
    OpcodeRow{Opcode::Brkpt, "brkpt", "9.7.19.1", kActs},
    OpcodeRow{Opcode::Brx, "brx.idx", "9.7.12.4", kActs},
    OpcodeRow{Opcode::Call, "call", "9.7.12.5", kActs},
    OpcodeRow{Opcode::Exit, "exit", "9.7.12.7", kActs},
    OpcodeRow{Opcode::Nanosleep, "nanosleep", "9.7.19.2", kActs},
    OpcodeRow{Opcode::Pmevent, "pmevent", "9.7.19.3", kActs},
    OpcodeRow{Opcode::Ret, "ret", "9.7.12.6", kActs},
    OpcodeRow{Opcode::Trap, "trap", "9.7.19.4", kActs},
    // synchronization
    OpcodeRow{Opcode::Bar, "bar.sync", "9.7.13.1", kActs},
    OpcodeRow{Opcode::Bar, "bar.cta.sync", "9.7.13.1", kActs},
    OpcodeRow{Opcode::Bar, "barrier.sync", "9.7.13.1", kActs},
    OpcodeRow{Opcode::Bar, "barrier.cta.sync", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarArrive, "bar.arrive", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarArrive, "bar.cta.arrive", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarArrive, "barrier.arrive", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarArrive, "barrier.cta.arrive", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarRed, "bar.red", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarRed, "bar.cta.red", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarRed, "barrier.red", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarRed, "barrier.cta.red", "9.7.13.1", kActs},
    OpcodeRow{Opcode::BarWarpSync, "bar.warp.sync", "9.7.13.2", kActs},
    OpcodeRow{Opcode::BarrierClusterArrive, "barrier.cluster.arrive", "9.7.13.3", kActs},
    OpcodeRow{Opcode::BarrierClusterWait, "barrier.cluster.wait", "9.7.13.3", kActs},
    OpcodeRow{Opcode::Fence, "fence", "9.7.13.4", kActs},
    OpcodeRow{Opcode::Griddepcontrol, "griddepcontrol", "9.7.13.13", kActs},
    OpcodeRow{Opcode::Membar, "membar", "9.7.13.4", kActs},
    OpcodeRow{Opcode::MbarrierArrive, "mbarrier.arrive", "9.7.13.15.13", kActs},
    OpcodeRow{Opcode::MbarrierArriveDrop, "mbarrier.arrive_drop", "9.7.13.15.14", kActs},
    OpcodeRow{Opcode::MbarrierCompleteTx, "mbarrier.complete_tx", "9.7.13.15.12", kActs},
    OpcodeRow{Opcode::MbarrierExpectTx, "mbarrier.expect_tx", "9.7.13.15.11", kActs},
    OpcodeRow{Opcode::MbarrierInit, "mbarrier.init", "9.7.13.15.9", kActs},
    OpcodeRow{Opcode::MbarrierInval, "mbarrier.inval", "9.7.13.15.10", kActs},
    OpcodeRow{Opcode::MbarrierPendingCount, "mbarrier.pending_count", "9.7.13.15.17", kActs},
    OpcodeRow{Opcode::MbarrierTestWait, "mbarrier.test_wait", "9.7.13.15.16", kActs},
    OpcodeRow{Opcode::MbarrierTryWait, "mbarrier.try_wait", "9.7.13.15.16", kActs},
    OpcodeRow{Opcode::Setmaxnreg, "setmaxnreg", "9.7.19.5", kActs},
    // copies that run by themselves
    OpcodeRow{Opcode::CpAsync, "cp.async", "9.7.9.25.3.1", kActs},
    OpcodeRow{Opcode::CpAsyncBulk, "cp.async.bulk", "9.7.9.25.4.1", kActs},
    OpcodeRow{Opcode::CpAsyncBulkCommit, "cp.async.bulk.commit_group", "9.7.9.25.6.1", kActs},
    OpcodeRow{Opcode::CpAsyncBulkPrefetch, "cp.async.bulk.prefetch", "9.7.9.25.4.3", kActs},
    OpcodeRow{Opcode::CpAsyncBulkPrefetch, "cp.async.bulk.prefetch.tensor", "9.7.9.25.5.4", kActs},
    OpcodeRow{Opcode::CpAsyncBulkTensor, "cp.async.bulk.tensor", "9.7.9.25.5.2", kActs},
    OpcodeRow{Opcode::CpAsyncBulkWait, "cp.async.bulk.wait_group", "9.7.9.25.6.2", kActs},
    OpcodeRow{Opcode::CpAsyncCommit, "cp.async.commit_group", "9.7.9.25.3.2", kActs},
    OpcodeRow{Opcode::CpAsyncMbarrierArrive, "cp.async.mbarrier.arrive", "9.7.13.15.15", kActs},
    OpcodeRow{Opcode::CpAsyncWaitAll, "cp.async.wait_all", "9.7.9.25.3.3", kActs},
    OpcodeRow{Opcode::CpAsyncWaitGroup, "cp.async.wait_group", "9.7.9.25.3.3", kActs},
    OpcodeRow{Opcode::CpReduceAsyncBulk, "cp.reduce.async.bulk", "9.7.9.25.4.2", kActs},
    OpcodeRow{Opcode::CpReduceAsyncBulkTensor, "cp.reduce.async.bulk.tensor", "9.7.9.25.5.3", kActs},
    OpcodeRow{Opcode::TensormapCpFence, "tensormap.cp_fenceproxy", "9.7.13.16", kActs},
    OpcodeRow{Opcode::TensormapReplace, "tensormap.replace", "9.7.9.26", kActs},
    // products
    OpcodeRow{Opcode::Mma, "mma", "9.7.14.5.14", kActs},
    OpcodeRow{Opcode::MmaSparse, "mma.sp", "9.7.14.6.3", kActs},
    OpcodeRow{Opcode::WgmmaCommit, "wgmma.commit_group", "9.7.15.7.2", kActs},
    OpcodeRow{Opcode::WgmmaFence, "wgmma.fence", "9.7.15.7.1", kActs},
    OpcodeRow{Opcode::WgmmaMma, "wgmma.mma_async", "9.7.15.5.2", kActs},
    OpcodeRow{Opcode::WgmmaMmaSparse, "wgmma.mma_async.sp", "9.7.15.6.3", kActs},
    OpcodeRow{Opcode::WgmmaWait, "wgmma.wait_group", "9.7.15.7.3", kActs},
    OpcodeRow{Opcode::WmmaLoad, "wmma.load", "9.7.14.4.3", kActs},
    OpcodeRow{Opcode::WmmaMma, "wmma.mma", "9.7.14.4.5", kActs},
    OpcodeRow{Opcode::WmmaStore, "wmma.store", "9.7.14.4.4", kActs},
    OpcodeRow{Opcode::Tcgen05Alloc, "tcgen05.alloc", "9.7.16.7.1", kActs},
    OpcodeRow{Opcode::Tcgen05Commit, "tcgen05.commit", "9.7.16.12.1", kActs},
    OpcodeRow{Opcode::Tcgen05Cp, "tcgen05.cp", "9.7.16.9.2", kActs},
    OpcodeRow{Opcode::Tcgen05Dealloc, "tcgen05.dealloc", "9.7.16.7.1", kActs},
    OpcodeRow{Opcode::Tcgen05Fence, "tcgen05.fence", "9.7.16.11.1", kActs},
    OpcodeRow{Opcode::Tcgen05Ld, "tcgen05.ld", "9.7.16.8.3", kActs},
    OpcodeRow{Opcode::Tcgen05Mma, "tcgen05.mma", "9.7.16.10.9.1", kActs},
    OpcodeRow{Opcode::Tcgen05MmaWs, "tcgen05.mma.ws", "9.7.16.10.9.3", kActs},
    OpcodeRow{Opcode::Tcgen05Relinquish, "tcgen05.relinquish_alloc_permit", "9.7.16.7.1", kActs},
    OpcodeRow{Opcode::Tcgen05Shift, "tcgen05.shift", "9.7.16.9.3", kActs},
    OpcodeRow{Opcode::Tcgen05St, "tcgen05.st", "9.7.16.8.4", kActs},
    OpcodeRow{Opcode::Tcgen05Wait, "tcgen05.wait", "9.7.16.8.5", kActs},
    // work handed out by the hardware
    OpcodeRow{Opcode::ClcQueryCancel, "clusterlaunchcontrol.query_cancel", "9.7.13.18", kActs},
    OpcodeRow{Opcode::ClcTryCancel, "clusterlaunchcontrol.try_cancel", "9.7.13.17", kActs},
};

constexpr auto kSorted = [] {
  auto rows = kRows;
  std::sort(rows.begin(), rows.end(), [](const OpcodeRow& a, const OpcodeRow& b) { return a.words < b.words; });
  return rows;
}();

constexpr std::size_t kLongest = std::max_element(kRows.begin(), kRows.end(), [](const OpcodeRow& a, const OpcodeRow& b) {
                                   return a.words.size() < b.words.size();
                                 })->words.size();

}  // namespace

std::span<const OpcodeRow> opcode_rows() { return kRows; }

const OpcodeRow* find_opcode(std::string_view mnemonic) {
  const OpcodeRow* longest = nullptr;
  const std::size_t last = std::min(mnemonic.size(), kLongest);
  for (std::size_t end = 1; end <= last; ++end) {
    if (end < mnemonic.size() && mnemonic[end] != '.' && mnemonic[end] != ':') continue;
    const std::string_view words = mnemonic.substr(0, end);
    const auto place =
        std::lower_bound(kSorted.begin(), kSorted.end(), words, [](const OpcodeRow& row, std::string_view key) { return row.words < key; });
    if (place != kSorted.end() && place->words == words) longest = &*place;
  }
  return longest;
}

}  // namespace heddle::ptx
