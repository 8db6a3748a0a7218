// Accesses of shared memory as the judge sees them, and CTAs of a cluster that exit while others may still reach theirs.
#pragma once

#include <span>

#include "ptx/run/cluster.h"

namespace heddle::ptx {

/// An access of one CTA's shared memory by a warp, or by what it issued: races, mbarriers that a write destroys, a CTA that has exited.
/// `known` is what orders it.
void read_shared(ClusterRun& run, int cta, std::span<const ByteRange> where, ShadowAccess access, const KnownClocks& known);
void write_shared(ClusterRun& run, int cta, std::span<const ByteRange> where, ShadowAccess access, const KnownClocks& known);
/// The last warp of a CTA has exited: who may still reach its shared memory?
void judge_exit_of(ClusterRun& run, int cta);

}  // namespace heddle::ptx
