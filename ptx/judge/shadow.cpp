#include "ptx/judge/shadow.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/judge/access_states.h"
#include "ptx/judge/reference.h"

namespace heddle::ptx {
namespace {

constexpr std::uint32_t kPiece = AccessStates::kParts;  ///< bytes

}  // namespace

struct Shadow::Inside {
  std::uint32_t bytes;
  const Components& components;
  Findings& findings;
  std::vector<StateId> cells;
  AccessStates states;

  std::vector<ByteRange> joined;

  /// Lanes that stand side by side as one range. Where some are no whole pieces, lanes may stand in any order.
  std::span<const ByteRange> join(std::span<const ByteRange> where) {
    if (where.size() < 2) return where;
    joined.clear();
    bool partial = false;
    for (const ByteRange& range : where) {
      if (!joined.empty() && joined.back().end == range.begin)
        joined.back().end = range.end;
      else
        joined.push_back(range);
    }
    for (const ByteRange& range : joined) partial = partial || range.begin % kPiece != 0 || range.end % kPiece != 0;
    if (!partial) return joined;
    std::sort(joined.begin(), joined.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < joined.size(); ++i) {
      if (joined[i].begin <= joined[last].end)
        joined[last].end = std::max(joined[last].end, joined[i].end);
      else
        joined[++last] = joined[i];
    }
    joined.resize(last + 1);
    return joined;
  }

  /// `whole(cells)` for each run of whole pieces of `where`, `part(cell, bits)` for pieces of which only some bytes are meant.
  template <typename Whole, typename Part>
  void each(std::span<const ByteRange> where, Whole whole, Part part) {
    for (ByteRange range : join(where)) {
      range.end = std::min(range.end, bytes);
      if (range.begin >= range.end) continue;
      std::uint32_t first = range.begin / kPiece, last = range.end / kPiece;
      const std::uint32_t before = range.begin % kPiece, after = range.end % kPiece;
      if (first == last) {
        part(cells[first], ((1u << after) - 1) & ~((1u << before) - 1));
        continue;
      }
      if (before != 0) part(cells[first++], 0xFFFFu & ~((1u << before) - 1));
      if (first < last) whole(std::span(cells).subspan(first, last - first));
      if (after != 0) part(cells[last], (1u << after) - 1);
    }
  }

  void access(std::span<const ByteRange> where, const ShadowAccess& access, const KnownClocks& known, AccessRules rules) {
    states.tidy(cells);
    AccessStep step(states, access, known, rules);
    each(
        where, [&](std::span<StateId> run) { step.whole(run); }, [&](StateId& cell, unsigned bits) { step.part(cell, bits); });
    const AccessStep::Outcome outcome = step.outcome(kPiece);
    for (const AccessClash& clash : outcome.clashes) report(clash, access, rules.write);
    // Who reads only what nobody ever wrote reads the wrong place, or before the first copy was issued. (Some of it: a tile's padding.)
    const bool judged = access.proxy == Proxy::Async || access.sure;
    if (!rules.write && judged && outcome.amount > 0 && outcome.never_written == outcome.amount)
      add({CheckRule::ReadBeforeReady,
           access.pc,
           access.warp,
           fmt::format("{} by {} of {} bytes that nothing has written", access.what, warp_reference(access.warp), outcome.amount),
           {},
           access.cycle},
          -2);
  }

  void add(CheckFinding finding, std::int64_t other) { findings.add(std::move(finding), other); }

  void report(const AccessClash& clash, const ShadowAccess& access, bool write) {
    const PastAccess& past = clash.with.front().past;
    const CheckRule rule = clash.kind == AccessClash::Kind::NotVisible  ? CheckRule::MissingProxyFence
                           : clash.kind == AccessClash::Kind::ReadBack  ? CheckRule::NoFenceBeforeCopy
                           : clash.kind == AccessClash::Kind::StillRead ? CheckRule::OverwriteBeforeRead
                           : write                                      ? CheckRule::WriteOverWrite
                                                                        : CheckRule::ReadBeforeReady;
    if (findings.again(rule, access.pc, past.pc)) return;
    CheckFinding finding{rule, access.pc, access.warp, {}, {}, access.cycle};
    const std::string who = warp_reference(access.warp), place = place_reference(past.pc);
    const char* of = write ? "over" : "of";
    switch (clash.kind) {
      case AccessClash::Kind::NotReady:
        finding.sentence =
            fmt::format("{} by {} {} what {} writes, which it has not waited for ({} bytes)", access.what, who, of, place, clash.amount);
        break;
      case AccessClash::Kind::NotVisible:
        finding.sentence =
            fmt::format("{} by the async proxy ({}) {} what threads wrote at {}, with no fence.proxy.async between ({} bytes)", access.what,
                        who, of, place, clash.amount);
        break;
      case AccessClash::Kind::ReadBack:
        finding.sentence = fmt::format(
            "{} by the async proxy ({}) over what threads wrote at {} and have read since, with no fence.proxy.async between "
            "({} bytes)",
            access.what, who, place, clash.amount);
        break;
      case AccessClash::Kind::StillRead:
        finding.sentence = fmt::format("{} by {} over what {} may still read at {}, which it has not waited for ({} bytes)", access.what,
                                       who, components.name(past.by), place, clash.amount);
        break;
    }
    const char* what = clash.kind == AccessClash::Kind::StillRead ? "reads it" : "writes it";
    for (std::size_t i = 0; i < std::min<std::size_t>(clash.with.size(), 4); ++i) {
      const AccessClash::With& with = clash.with[i];
      finding.related.push_back({with.past.pc, with.past.warp, what});
    }
    add(std::move(finding), past.pc);
  }

  const PastAccess* writer(std::uint32_t at) const {
    if (at >= bytes) return nullptr;
    const StateId id = states.parts(cells[at / kPiece])[at % kPiece];
    return states[id].writers.empty() ? nullptr : &states[id].writers.back();
  }
};

Shadow::Shadow(std::uint32_t bytes, const Components& components, Findings& findings)
    : inside_(new Inside{bytes, components, findings, std::vector<StateId>((bytes + kPiece - 1) / kPiece), {}, {}}) {}
Shadow::~Shadow() = default;
Shadow::Shadow(Shadow&& other) noexcept = default;

void Shadow::read(std::span<const ByteRange> where, const ShadowAccess& access, const KnownClocks& known) {
  inside_->access(where, access, known, {});
}

void Shadow::write(std::span<const ByteRange> where, const ShadowAccess& access, const KnownClocks& known) {
  // A flag that every warp of a group stores: one place of a register's size.
  const bool one_place =
      where.size() == 1 && where[0].end - where[0].begin <= 16 && access.proxy == Proxy::Generic && access.epoch != kPending;
  inside_->access(where, access, known, {.write = true, .same_value = one_place});
}

void Shadow::settle(std::span<const ByteRange> where, Component by, int pc, Epoch epoch) {
  Inside& inside = *inside_;
  const auto settle = [&](std::span<StateId> run) { settle_cells(inside.states, run, by, pc, epoch); };
  inside.each(where, settle, [&](StateId& cell, unsigned) { settle(std::span(&cell, 1)); });
}

int Shadow::written_by(std::uint32_t at) const {
  const PastAccess* writer = inside_->writer(at);
  return writer == nullptr ? -1 : writer->warp;
}

int Shadow::written_at(std::uint32_t at) const {
  const PastAccess* writer = inside_->writer(at);
  return writer == nullptr ? -1 : writer->pc;
}

}  // namespace heddle::ptx
