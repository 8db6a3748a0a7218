#include "ptx/report/check_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/formats/members.h"
#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

constexpr std::size_t kMostLines = 12;  ///< of one kind of what was not seen
constexpr const char *kFormat = "heddle.ptx_check/1", *kShowFormat = "heddle.ptx_show/1";

const char* to_string(Rank rank) { return rank == Rank::Wrong ? "wrong" : rank == Rank::Doubtful ? "doubtful" : "note"; }
const char* to_string(CheckVerdict verdict) {
  return verdict == CheckVerdict::InOrder ? "in_order" : verdict == CheckVerdict::NotInOrder ? "not_in_order" : "stopped";
}

std::int64_t count(const Checked& checked, Rank rank) { return std::ranges::count(checked.findings, rank, &SaidFinding::rank); }

std::string size_text(const std::array<std::uint32_t, 3>& size) { return fmt::format("{} x {} x {}", size[0], size[1], size[2]); }

/// What the sentence does not say already.
std::string place_text(const std::string& sentence, int line, const std::string& source, const std::string& role) {
  std::string text;
  for (const std::string& part : {line > 0 ? fmt::format("line {}", line) : std::string(), source, role})
    if (!part.empty() && sentence.find(part) == std::string::npos) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string finding_text(const SaidFinding& finding, int width) {
  std::string text = wrapped(printable(finding.sentence), fmt::format("{}: ", to_string(finding.rank)), width);
  const std::string place = place_text(finding.sentence, finding.line, finding.source, finding.role);
  std::vector<std::string> facts;
  if (!place.empty()) facts.push_back("at " + place);
  if (!finding.barrier.empty()) facts.push_back(finding.barrier);
  if (finding.times > 1) facts.push_back(fmt::format("{} times", finding.times));
  if (!facts.empty()) text += wrapped(printable(fmt::format("{}", fmt::join(facts, "; "))), "  ", width);
  for (const SaidFinding::Related& related : finding.related) {
    const std::string where = place_text(related.what, related.line, related.source, related.role);
    text += wrapped(printable(related.what + (where.empty() ? "" : " (" + where + ")")), "  - ", width);
  }
  text += wrapped(fmt::format("{}{}", finding.rule, finding.section.empty() ? "" : ", PTX ISA " + finding.section), "  rule: ", width);
  return text;
}

/// The first of each rule at each line; of the others, which other warps and barriers have, how many there are.
std::string findings_text(const Checked& checked, int width) {
  std::map<std::pair<std::string, int>, std::int64_t> alike;
  for (const SaidFinding& finding : checked.findings) ++alike[{finding.rule, finding.line}];
  std::string text;
  for (const SaidFinding& finding : checked.findings) {
    std::int64_t& left = alike[{finding.rule, finding.line}];
    if (left == 0) continue;
    text += "\n" + finding_text(finding, width);
    if (left > 1) text += fmt::format("  and {} more by this rule at this line\n", left - 1);
    left = 0;
  }
  return text;
}

/// "3 waits (lines 12, 40, 77)"
std::string not_seen_text(const Checked& checked, int width) {
  std::map<std::string, std::vector<int>> lines;
  for (const NotSeen& part : checked.not_seen) lines[part.what].push_back(part.line);
  std::string text;
  for (const auto& [what, at] : lines) {
    const std::vector<int> first(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(std::min(at.size(), kMostLines)));
    text += wrapped(fmt::format("{} ({} {}{})", count_of(static_cast<std::int64_t>(at.size()), what, what == "copy" ? "copies" : ""),
                                at.size() == 1 ? "line" : "lines", fmt::join(first, ", "), at.size() > first.size() ? ", ..." : ""),
                    "  ", width);
  }
  return text.empty() ? text : "not executed in this launch, and so not judged\n" + text;
}

std::string branches_text(const Checked& checked, int width) {
  if (checked.branches.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const SaidBranch& branch : checked.branches)
    rows.push_back({fmt::format("{}", branch.line), fmt::format("{}", branch.times), fmt::format("{}", branch.taken),
                    branch.guards ? "yes" : "no", printable(branch.hangs_on), printable(branch.source)});
  return "branches on data that is not known\n" +
         text_table({{"line", true}, {"times", true}, {"taken", true}, {"guards"}, {"hangs on"}, {"source"}}, rows, width);
}

std::string facts_text(const CheckedLaunch& launch) {
  const Checked& checked = *launch.checked;
  std::vector<std::string> facts = {fmt::format("{} of {}", checked.kernel, checked.target), "grid " + size_text(launch.launch.grid)};
  if (launch.launch.cluster != std::array<std::uint32_t, 3>{1, 1, 1}) facts.push_back("cluster " + size_text(launch.launch.cluster));
  facts.push_back(fmt::format("{} instructions of warps", checked.instructions));
  if (checked.cycles > 0) facts.push_back(fmt::format("{} cycles (predicted)", checked.cycles));
  if (checked.runs > 1) facts.push_back(fmt::format("{} runs", checked.runs));
  return printable(fmt::format("{}", fmt::join(facts, ", ")));
}

}  // namespace

std::string verdict_text(const CheckedLaunch& launch) {
  if (!launch.checked) {
    const std::vector<Fault>& faults = launch.error.faults;
    return "cannot be read: " + (faults.empty() ? std::string("no reason is known") : to_string(faults.front())) +
           (faults.size() > 1 ? fmt::format(" (and {} more)", faults.size() - 1) : "");
  }
  const Checked& checked = *launch.checked;
  std::vector<std::string> counts;
  for (const Rank rank : {Rank::Wrong, Rank::Doubtful, Rank::Note})
    if (const std::int64_t number = count(checked, rank); number > 0)
      counts.push_back(rank == Rank::Note ? count_of(number, "note") : fmt::format("{} {}", number, to_string(rank)));
  const std::string found = counts.empty() ? std::string() : fmt::format(": {}", fmt::join(counts, ", "));
  const std::string stopped = checked.stopped.empty()    ? std::string()
                              : checked.stopped_line > 0 ? fmt::format("stopped at line {}: {}", checked.stopped_line, checked.stopped)
                                                         : "stopped: " + checked.stopped;
  switch (checked.verdict) {
    case CheckVerdict::InOrder: return "in order" + found;
    case CheckVerdict::NotInOrder: return "not in order" + found + (stopped.empty() ? "" : "; " + stopped);
    case CheckVerdict::Stopped: return stopped + (found.empty() ? "" : "; until then" + found);
  }
  return {};
}

std::string check_text(const CheckedLaunch& launch, const TextStyle& style) {
  std::string text = printable(launch.name) + "\n";
  for (const std::string& line : launch.told) text += wrapped(printable(line), "  ", style.width);
  text += wrapped(printable(verdict_text(launch)), "", style.width);
  if (!launch.checked) {
    for (std::size_t f = 1; f < launch.error.faults.size(); ++f) text += printable(to_string(launch.error.faults[f])) + "\n";
    return text;
  }
  const Checked& checked = *launch.checked;
  text += wrapped(facts_text(launch), "  ", style.width);
  for (const std::string& note : checked.notes) text += wrapped(printable(note), "  ", style.width);
  text += findings_text(checked, style.width);
  for (const std::string& part : {not_seen_text(checked, style.width), branches_text(checked, style.width)})
    if (!part.empty()) text += "\n" + part;
  return text;
}

std::string check_lines(const std::vector<CheckedLaunch>& launches, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const CheckedLaunch& launch : launches) rows.push_back({printable(launch.name), printable(verdict_text(launch))});
  return text_table({{"launch"}, {"verdict"}}, rows, style.width);
}

template <class Io>
void visit(Io& io, const SaidFinding::Related& related) {
  io.written("what", related.what);
  io.written("line", related.line);
  io.written("source", related.source);
  io.written("role", related.role);
}

template <class Io>
void visit(Io& io, const SaidFinding& finding) {
  io.part("finding");
  io.written("rank", std::string(to_string(finding.rank)), "wrong, doubtful (by the letter of the PTX ISA), note");
  io.written("rule", finding.rule);
  io.written("section", finding.section, "of the PTX ISA");
  io.written("sentence", finding.sentence);
  io.written("line", finding.line, "of the PTX; 0: none in particular");
  io.written("source", finding.source, "empty without -lineinfo");
  io.written("role", finding.role);
  io.written("barrier", finding.barrier);
  io.written("related", finding.related, "of a hang: who waits for whom");
  io.written("times", finding.times, as::count);
  io.written("cycle", finding.cycle, as::any_integer);
}

template <class Io>
void visit(Io& io, const NotSeen& part) {
  io.written("line", part.line);
  io.written("source", part.source);
  io.written("what", part.what);
}

template <class Io>
void visit(Io& io, const SaidBranch& branch) {
  io.written("line", branch.line);
  io.written("source", branch.source);
  io.written("hangs_on", branch.hangs_on);
  io.written("times", branch.times, as::count);
  io.written("taken", branch.taken, as::count);
  io.written("guards", branch.guards, "a barrier, copy or product hangs on it");
}

namespace {

struct GridSizes {
  template <class T>
  Json write(const T& size) const {
    return Json::array().push(size[0]).push(size[1]).push(size[2]);
  }
  template <class T>
  Json schema(const T&, Json&) const {
    return schema::list(schema::count(), 3, 3);
  }
};

/// What was run, and its verdict.
template <class Io>
void visit_subject(Io& io, const CheckedLaunch& launch) {
  const Checked none;
  const Checked& checked = launch.checked ? *launch.checked : none;
  io.written("name", launch.name);
  io.written("text", launch.text_path, "path of the PTX");
  io.written("verdict", std::string(launch.checked ? to_string(checked.verdict) : "unreadable"),
             "in_order, not_in_order, stopped, unreadable");
  io.written("sentence", verdict_text(launch));
  io.written("changed", launch.told, as::list(as::text), "how it differs from the launch that was given");
  io.written("kernel", checked.kernel);
  io.written("target", checked.target);
  io.written("grid", launch.launch.grid, GridSizes{});
  io.written("cluster", launch.launch.cluster, GridSizes{});
  io.written("block", launch.launch.block, GridSizes{});
  io.written("instructions", checked.instructions, as::count, "of warps");
  io.written("cycles", checked.cycles, as::count, "predicted; 0 without costs");
}

/// All of a launch in one list: what was not run has a reason instead of findings.
template <class Io>
void visit_launch(Io& io, const CheckedLaunch& launch) {
  const Checked none;
  const Checked& checked = launch.checked ? *launch.checked : none;
  visit_subject(io, launch);
  io.written("runs", checked.runs);
  io.written("stopped", checked.stopped, "why nothing is promised");
  io.written("stopped_line", checked.stopped_line);
  io.written("findings", checked.findings);
  io.written("not_seen", checked.not_seen, "what this launch did not execute");
  io.written("branches", checked.branches, "on data that is not known");
  io.written("notes", checked.notes, as::list(as::text));
}

}  // namespace

template <class Io>
void visit(Io& io, const CheckedLaunch& launch) {
  io.part("launch");
  visit_launch(io, launch);
}

namespace {

struct CheckAnswer {
  std::vector<CheckedLaunch> launches;
};

template <class Io>
void visit(Io& io, const CheckAnswer& answer) {
  io.written("launches", answer.launches);
}

}  // namespace

Json check_json(const std::vector<CheckedLaunch>& launches) {
  MemberWriter writer;
  writer.json.set("schema", kFormat);
  visit(writer, CheckAnswer{launches});
  return std::move(writer.json);
}

Json ptx_check_schema() { return document_schema<CheckAnswer>(kFormat, "What heddle check answers of a PTX text"); }

template <class Io>
void visit(Io& io, const ShownStep& step) {
  io.part("step");
  io.written("text", step.text);
  io.written("line", step.line, "of the PTX");
  io.written("source", step.source, "empty without -lineinfo");
  io.written("times", step.times, as::count, "one after the other");
}

template <class Io>
void visit(Io& io, const ShownRole& role) {
  io.part("role");
  io.written("name", role.name);
  io.written("cta", role.cta, "of the cluster");
  io.written("warps", role.warps, as::list(as::integer(0, 1023)), "of the CTA");
  io.written("trips", role.trips, as::count, "of its steady loop; 0: it has none");
  io.written("cycles", role.cycles, as::count, "of a trip, the median (predicted); 0 without costs");
  io.written("first_line", role.first_line, "of the loop in the PTX");
  io.written("last_line", role.last_line);
  io.written("trip", role.trip, "one of them, in the middle");
}

template <class Io>
void visit(Io& io, const ShownSlot& slot) {
  io.part("slot");
  io.written("begin", slot.begin, as::count, "byte of the CTA's shared memory, with those that are reserved in front");
  io.written("end", slot.end, as::count);
  io.written("full", slot.full, as::any_integer, "byte of the barrier that its copies signal; -1: none");
  io.written("empty", slot.empty, as::any_integer, "byte of the barrier that is waited for before it is filled; -1: none was seen");
}

template <class Io>
void visit(Io& io, const ShownRing& ring) {
  io.part("ring");
  io.written("name", ring.name);
  io.written("cta", ring.cta);
  io.written("copies", ring.copies, as::count);
  io.written("lines", ring.lines, as::list(as::count), "of its copies in the PTX");
  io.written("slots", ring.slots);
}

namespace {

/// A launch, and what its run looks like.
struct ShownLaunch {
  const CheckedLaunch* launch = nullptr;
};
struct ShowAnswer {
  std::vector<ShownLaunch> launches;
};

template <class Io>
void visit(Io& io, const ShownLaunch& shown) {
  io.part("shown_launch");
  static const CheckedLaunch nothing;
  const CheckedLaunch& launch = shown.launch ? *shown.launch : nothing;
  const ShownRun none;
  const ShownRun& run = launch.checked && launch.checked->shown ? *launch.checked->shown : none;
  visit_subject(io, launch);
  io.written("reserved", std::int64_t{kReservedShared}, as::count, "bytes of each CTA's shared memory in front of the kernel's own");
  io.written("roles", run.roles);
  io.written("rings", run.rings);
  io.written("notes", launch.checked ? launch.checked->notes : std::vector<std::string>(), as::list(as::text));
}

template <class Io>
void visit(Io& io, const ShowAnswer& answer) {
  io.written("launches", answer.launches);
}

}  // namespace

Json show_json(const std::vector<CheckedLaunch>& launches) {
  ShowAnswer answer;
  for (const CheckedLaunch& launch : launches) answer.launches.push_back({&launch});
  MemberWriter writer;
  writer.json.set("schema", kShowFormat);
  visit(writer, answer);
  return std::move(writer.json);
}

Json ptx_show_schema() { return document_schema<ShowAnswer>(kShowFormat, "What heddle show answers of a PTX text"); }

}  // namespace heddle::ptx
