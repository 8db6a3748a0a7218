#include "ptx/run/shared_memory.h"

#include <algorithm>

#include "ptx/judge/reference.h"
#include "ptx/run/inside.h"

namespace heddle::ptx {

namespace {

std::string remote_access(const ShadowAccess& access, int cta) {
  return std::string(access.what) + " by " + warp_reference(access.warp) + " reaches shared memory of CTA " + std::to_string(cta) +
         " of the cluster";
}

void note_access(ClusterRun& run, int cta, ShadowAccess& access) {
  if (access.cycle == 0) access.cycle = run.now() / kCycle;
  // A store that was left out as its guard is not known, or a branch that was not taken, may have written it.
  access.sure = run.data_branches.empty() && run.inside().unsure_lanes == 0;
  if (cta == run.warps[static_cast<std::size_t>(access.warp)].cta) return;
  const auto alive = [&](const Warp& warp) { return warp.cta == cta && warp.live != 0; };
  if (std::ranges::none_of(run.warps, alive)) {
    run.findings.add(
        {CheckRule::ExitWhileWaited, access.pc, access.warp, remote_access(access, cta) + ", which has exited", {}, access.cycle}, cta);
    return;
  }
  // Whose end is known by a barrier's phase is over when the CTA that waits for it goes on.
  if (access.epoch != kPending) run.inside().remote[cta][access.by] = {access.epoch, access.pc, access.warp};
}

}  // namespace

void read_shared(ClusterRun& run, int cta, std::span<const ByteRange> where, ShadowAccess access, const KnownClocks& known) {
  note_access(run, cta, access);
  run.shadows[static_cast<std::size_t>(cta)].read(where, access, known);
}

void write_shared(ClusterRun& run, int cta, std::span<const ByteRange> where, ShadowAccess access, const KnownClocks& known) {
  note_access(run, cta, access);
  run.shadows[static_cast<std::size_t>(cta)].write(where, access, known);
  const std::uint64_t begin = static_cast<std::uint64_t>(cta) << kCtaShift;
  for (const ByteRange& range : where)
    run.barriers.overwritten(begin | range.begin, begin + range.end, access.what, {access.warp, access.pc, access.by, access.cycle});
}

void judge_exit_of(ClusterRun& run, int cta) {
  const auto& remote = run.inside().remote;
  const auto found = remote.find(cta);
  if (found == remote.end()) return;
  Clock known;
  for (const Warp& warp : run.warps)
    if (warp.cta == cta) known.join(warp.known.seen);
  for (const auto& [component, access] : found->second)
    if (known.at(component) < access.epoch)
      run.findings.add({CheckRule::ExitWhileWaited,
                        access.pc,
                        access.warp,
                        warp_reference(access.warp) + " reaches shared memory of CTA " + std::to_string(cta) +
                            " of the cluster, which may have exited: nothing orders this before the end of that CTA",
                        {},
                        run.now() / kCycle},
                       cta);
}

}  // namespace heddle::ptx
