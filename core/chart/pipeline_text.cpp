#include "core/chart/pipeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/chart/chart_layout.h"

namespace heddle {
namespace {

using Kind = PipelineLine::Kind;
using Part = PipelineWindow::Part;

/// An iteration of a section: a number, i + offset, or N + offset.
struct Iteration {
  Part part;
  int offset;

  Iteration back(int distance) const { return {part, offset - distance}; }

  std::string text() const {
    if (part == Part::Fill) return fmt::format("{}", offset);
    const char* base = part == Part::Steady ? "i" : "N";
    return offset == 0 ? std::string(base) : fmt::format("{}{}{}", base, offset < 0 ? '-' : '+', std::abs(offset));
  }
  std::string factor() const { return part != Part::Fill && offset != 0 ? "(" + text() + ")" : text(); }

  std::string slot(int depth) const {
    if (depth <= 1) return "0";
    return part == Part::Fill ? fmt::format("{}", offset % depth) : fmt::format("{}%{}", factor(), depth);
  }
  /// Writers begin one phase ahead: the slots are free before anyone has released them.
  std::string phase(int depth, bool writer) const {
    if (part == Part::Fill) return fmt::format("{}", ((offset / std::max(depth, 1)) & 1) ^ (writer ? 1 : 0));
    const std::string turn = depth <= 1 ? factor() : fmt::format("({}/{})", factor(), depth);
    return writer ? fmt::format("({}&1)^1", turn) : fmt::format("{}&1", turn);
  }
};

class Writer {
 public:
  Writer(const Problem& problem, const Schedule& schedule, const EndOps* ends)
      : problem_(problem), schedule_(schedule), ends_(ends), program_(pipeline_program(problem, schedule)) {}

  PipelineText run() {
    PipelineText text;
    int most = 1;
    for (const PipelineGroup& group : program_.groups) most = std::max(most, group.stages);
    text.about = fmt::format(
        "What the schedule implies for N >= {} iterations, not what a code generator emits. Cycles are slots of the "
        "window of {} cycles.",
        most, grouped(schedule_.ii));
    for (std::size_t c = 0; c < problem_.channels.size(); ++c)
      if (schedule_.depths[c] > 0) text.rings.push_back(ring(ChannelId(c)));
    for (std::size_t g = 0; g < program_.groups.size(); ++g) text.groups.push_back(group(g));
    if (ends_)
      for (std::size_t g = program_.groups.size(); g < ends_->groups.size(); ++g) text.groups.push_back(end_group(g));
    return text;
  }

 private:
  const std::string& name(OpId op) const { return problem_.op(op).name; }

  std::string ring(ChannelId id) const {
    const Channel& channel = problem_.channel(id);
    std::string text =
        fmt::format("{}: {}, {} {} each, filled by {}", printable(channel.name), count_of(schedule_.depth(id), "slot"),
                    grouped(channel.size), channel.space == Space::Tmem ? "columns" : "bytes", printable(name(channel.writer)));
    if (const int releases = program_.releases[id.index()]) return text + fmt::format(", freed by {}", count_of(releases, "release"));
    return text + ", used by one group: no empty barrier";
  }

  PipelineTextGroup group(std::size_t g) const {
    const PipelineGroup& body = program_.groups[g];
    PipelineTextGroup out;
    out.title = printable(role_name(schedule_, g));
    out.note = count_of(schedule_.groups[g].warps, "warp") + ", " + count_of(body.stages, "stage");
    if (body.first_stage > 0) out.note += fmt::format(", begins in window {}", body.first_stage);
    add_once(g, CtaSection::Prologue, out);
    if (body.lines.empty()) {
      add_once(g, CtaSection::Epilogue, out);
      return out;
    }
    if (body.stages > kMostStagesWritten)
      out.note += fmt::format("; filling and draining of more than {} stages are not written out", kMostStagesWritten);
    for (const PipelineWindow& window : pipeline_windows(body)) out.sections.push_back(section(body, window));
    add_once(g, CtaSection::Epilogue, out);
    return out;
  }

  /// A group that is there for the epilogue alone.
  PipelineTextGroup end_group(std::size_t g) const {
    const ScheduleGroup& of = ends_->groups[g];
    PipelineTextGroup out;
    out.title = of.role.empty() ? fmt::format("group {}", g) : printable(of.role);
    out.note = count_of(of.warps, "warp");
    add_once(g, CtaSection::Epilogue, out);
    return out;
  }

  /// What the group does before the loop, or after it.
  void add_once(std::size_t g, CtaSection section, PipelineTextGroup& out) const {
    if (!ends_) return;
    PipelineTextSection once;
    once.once = true;
    once.title = to_string(section);
    once.note = "once per tile, predicted";
    for (const EndOp& end : ends_->ops) {
      if (end.section != section || end.group.index() != g) continue;
      const Op& op = ends_->problem.op(end.op);
      PipelineTextLine line;
      line.verb = op.kind.empty() ? "op" : printable(op.kind);
      line.object = printable(op.name);
      describe(op, ends_->problem, line);
      if (!end.cost_known) line.detail = "no cost known, taken as nothing";
      once.lines.push_back(std::move(line));
    }
    if (!once.lines.empty()) out.sections.push_back(std::move(once));
  }

  static void describe(const Op& op, const Problem& problem, PipelineTextLine& out) {
    for (const UnitUse& use : op.uses)
      if (use.duration > 0) {
        out.detail = fmt::format("{} {}", printable(problem.unit(use.unit).name), grouped(use.duration));
        break;
      }
    if (!op.uses.empty()) out.role = problem.unit(op.uses.front().unit).role;
    if (op.asynchronous) out.detail += out.detail.empty() ? "asynchronous" : ", asynchronous";
  }

  PipelineTextSection section(const PipelineGroup& body, const PipelineWindow& window) const {
    PipelineTextSection out;
    const int fill = body.stages - 1;
    switch (window.part) {
      case Part::Fill:
        out.title = fill > 1 ? fmt::format("fill {} of {}", window.number + 1, fill) : "fill";
        out.note = fmt::format("once, from cycle {}", grouped(sat(body.first_stage + window.number)));
        break;
      case Part::Steady:
        out.title = fmt::format("steady state: for i = {} .. N-1", fill);
        out.note = fill == 0 ? "N times" : fmt::format("N-{} times", fill);
        break;
      case Part::Drain:
        out.title = fill > 1 ? fmt::format("drain {} of {}", window.number + 1, fill) : "drain";
        out.note = "once";
        break;
    }
    for (const PipelineStep& step : window.steps) out.lines.push_back(line(body.lines[step.line], step, {window.part, step.offset}));
    return out;
  }

  Cycle sat(int window) const { return static_cast<Cycle>(window) * schedule_.ii; }

  PipelineTextLine line(const PipelineLine& of, const PipelineStep& step, Iteration at) const {
    PipelineTextLine out;
    out.op = of.op;
    out.other = of.other;
    out.channel = of.channel;
    out.kind = of.kind;
    out.slot = of.slot;
    // Said of the loop's own counter: i - 1 >= 1 is i >= 2.
    const char* counter = at.part == Part::Steady ? "i" : "N";
    if (step.check_first) out.guard = fmt::format("if {} >= {}: ", counter, of.first - at.offset);
    if (step.check_last)
      out.guard += at.part == Part::Steady ? fmt::format("if i < {}: ", Iteration{Part::Drain, -of.spare - at.offset}.text())
                                           : fmt::format("if {} < N-{}: ", at.offset, of.spare);
    const auto item = [&](const std::string& what, Iteration when) { return fmt::format("{}[{}]", printable(what), when.text()); };
    const auto place = [&](Iteration when, bool writer) {
      if (!of.channel.valid()) return of.value.valid() ? std::string("no ring") : std::string("order only");
      const int depth = schedule_.depth(of.channel);
      std::string text = fmt::format("slot {} phase {}", when.slot(depth), when.phase(depth, writer));
      const std::string& ring_name = problem_.channel(of.channel).name;
      if (of.value.valid() && problem_.value(of.value).name != ring_name) text += fmt::format(" of {}", printable(ring_name));
      return text;
    };
    const auto signal = [&](OpId from) { return of.value.valid() ? problem_.value(of.value).name : name(from); };
    switch (of.kind) {
      case Kind::Wait:
        out.verb = of.value.valid() ? "consumer_wait" : "wait";
        out.object = item(signal(of.other), at.back(of.distance));
        out.detail = place(at.back(of.distance), false);
        break;
      case Kind::Retire:
        out.verb = "retire";
        out.object = item(name(of.other), at.back(of.distance));
        out.detail = "until it has finished";
        break;
      case Kind::Acquire:
        out.verb = "producer_acquire";
        out.object = item(problem_.channel(of.channel).name, at);
        out.detail = place(at, true);
        break;
      case Kind::Issue: {
        const Op& op = problem_.op(of.op);
        out.verb = op.kind.empty() ? "op" : printable(op.kind);
        out.object = item(op.name, at);
        describe(op, problem_, out);
        break;
      }
      case Kind::Commit:
        out.verb = of.value.valid() ? "producer_commit" : "arrive";
        out.object = item(signal(of.op), at);
        out.detail = of.channel.valid() ? fmt::format("slot {}", at.slot(schedule_.depth(of.channel))) : place(at, false);
        if (of.hardware) out.detail += ", when it has finished";
        break;
      case Kind::Release:
        out.verb = "consumer_release";
        out.object = item(problem_.channel(of.channel).name, at.back(of.distance));
        out.detail = fmt::format("slot {}", at.back(of.distance).slot(schedule_.depth(of.channel)));
        if (of.hardware) out.detail += fmt::format(", when {} has finished", printable(name(of.op)));
        break;
    }
    return out;
  }

  const Problem& problem_;
  const Schedule& schedule_;
  const EndOps* ends_;
  const PipelineProgram program_;
};

}  // namespace

PipelineText pipeline_text(const Problem& problem, const Schedule& schedule, const EndOps* ends) {
  return Writer(problem, schedule, ends).run();
}

std::string to_string(const PipelineTextLine& line) {
  std::string text = fmt::format("{}{} {}", line.guard, line.verb, line.object);
  if (!line.detail.empty()) text += "  // " + line.detail;
  return text;
}

std::string pipeline_page(const PipelineText& text, const TextStyle& style) {
  std::string page = wrapped(styled(text.about, style), "", style.width);
  if (!text.rings.empty()) page += "\nrings\n";
  for (const std::string& ring : text.rings) page += "  " + styled(ring, style) + "\n";
  for (const PipelineTextGroup& group : text.groups) {
    page += fmt::format("\n{} ({})\n", styled(group.title, style), group.note);
    for (const PipelineTextSection& section : group.sections) {
      page += fmt::format("\n  {} ({})\n", section.title, section.note);
      std::vector<std::vector<std::string>> rows;
      for (const PipelineTextLine& line : section.lines)
        rows.push_back({section.once ? "" : grouped(line.slot), line.guard + styled(line.verb, style), styled(line.object, style),
                        styled(line.detail, style)});
      page += text_table({{"cycle", true}, {"does"}, {"what"}, {"where"}}, rows);
    }
    if (group.sections.empty()) page += "  no op\n";
  }
  return page;
}

}  // namespace heddle
