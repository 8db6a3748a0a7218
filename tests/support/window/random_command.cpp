// Random members for every type of command.
#include "tests/support/window/random_command.h"
#include "app/jobs/ask_options.h"
#include "app/session/kernel_state.h"
#include "app/session/proposal_commands.h"
#include "app/session/texts.h"
#include "core/formats/kernel_json.h"
#include "core/patterns/pattern.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/read/program.h"
#include "tests/support/mutate_json.h"

#include <cxxabi.h>
#include <array>
#include <cstdlib>
#include <type_traits>
#include <typeinfo>

namespace heddle::test {

using namespace heddle::app;

namespace {

struct Source {
  Random& random;
  const Session& session;
  const std::vector<std::string>& paths;

  std::size_t ops() const { return session.content().problem ? session.content().problem->ops.size() : 0; }
  OpId op() const {
    if (chance(random, 12)) return chance(random, 2) ? OpId() : OpId(random() % 1000);
    return ops() == 0 ? OpId(0) : OpId(pick(random, ops()));
  }
  std::string op_name() const {
    const OpId id = op();
    return id.valid() && id.index() < ops() ? session.content().problem->op(id).name : random_text(random);
  }
  std::int64_t number() const {
    constexpr std::array<std::int64_t, 14> kTelling{0,    1,     -1,    2,         7,         64,        100,
                                                    2048, 65536, -4096, INT32_MAX, INT64_MAX, INT64_MIN, kLargestChange};
    if (chance(random, 6)) return kTelling[pick(random, kTelling.size())];
    return static_cast<std::int64_t>(random() % 5000) - 50;
  }
  std::size_t index() const { return chance(random, 10) ? random() % 100 : pick(random, 4); }

  void fill(bool& value) const { value = chance(random, 2); }
  void fill(int& value) const { value = static_cast<int>(chance(random, 8) ? number() % INT32_MAX : number() % 80); }
  void fill(std::int64_t& value) const { value = number(); }
  void fill(std::size_t& value) const { value = index(); }
  void fill(double& value) const { value = static_cast<double>(number()) / 16; }
  void fill(std::string& value) const { value = random_text(random); }
  void fill(OpId& value) const { value = op(); }
  void fill(GroupId& value) const { value = chance(random, 8) ? GroupId(random() % 50) : GroupId(pick(random, 3)); }
  template <class T>
  void fill(std::optional<T>& value) const {
    if (chance(random, 3)) return;
    fill(value.emplace());
  }
  template <class E>
  requires std::is_enum_v<E>
  void fill(E& value) const { value = static_cast<E>(pick(random, most<E>() + 1)); }
  /// Index of the last value of an enumeration.
  template <class E>
  static constexpr std::size_t most() {
    if constexpr (std::is_same_v<E, BottomTab>)
      return static_cast<std::size_t>(BottomTab::Truth);
    else if constexpr (std::is_same_v<E, Topic>)
      return std::size(kTopics) - 1;
    else if constexpr (std::is_same_v<E, KernelStep>)
      return static_cast<std::size_t>(KernelStep::Data);
    else if constexpr (std::is_same_v<E, ConstraintKind>)
      return static_cast<std::size_t>(kLastConstraintKind);
    else if constexpr (std::is_same_v<E, ChangeKind>)
      return static_cast<std::size_t>(ChangeKind::Groups);
    else if constexpr (std::is_same_v<E, ExportKind>)
      return static_cast<std::size_t>(ExportKind::Python);
    else if constexpr (std::is_same_v<E, SourceOf>)
      return static_cast<std::size_t>(SourceOf::Machine);
    else
      return 2;  // themes, modes, panes, views: all have three
  }
  void fill(UserConstraint& c) const {
    fill(c.kind);
    if (chance(random, 2)) c.kind = ConstraintKind::Pin;
    c.enabled = !chance(random, 6);
    for (std::size_t n = pick(random, 3) + (chance(random, 10) ? 0 : 1); n-- > 0;) c.ops.push_back(op_name());
    if (chance(random, 3)) fill(c.name);
    if (chance(random, 2) && session.content().problem && !session.content().problem->channels.empty())
      c.channel = pick_of(random, session.content().problem->channels).name;
    fill(c.low);
    fill(c.high);
  }
  void fill(Change& c) const {
    fill(c.kind);
    fill(c.effect);
    if (chance(random, 2)) c.kind = ChangeKind::Latency, c.effect = ChangeEffect::To;
    c.op = op_name();
    if (chance(random, 6)) fill(c.unit);
    if (chance(random, 6)) fill(c.field);
    fill(c.value);
  }
  void fill(Changes& changes) const {
    for (std::size_t n = pick(random, 3); n-- > 0;) fill(changes.emplace_back());
  }
  void fill(std::vector<OpId>& some) const {
    for (std::size_t n = pick(random, 4); n-- > 0;) some.push_back(op());
  }
  void fill(Alignment& alignment) const {
    fill(alignment.at);
    alignment.op = op();
  }
  void fill(Note& note) const {
    fill(note.text);
    if (chance(random, 2)) note.op = op_name();
    fill(note.at);
  }
  void fill(Highlight& highlight) const {
    fill(highlight.why);
    // Only what exists: ids come from answers about the problem that is open.
    for (std::size_t n = pick(random, 4); n-- > 0 && ops() > 0;) highlight.ops.push_back(OpId(pick(random, ops())));
    const std::size_t edges = session.content().problem ? session.content().problem->edges.size() : 0;
    for (std::size_t n = pick(random, 3); n-- > 0 && edges > 0;) highlight.edges.push_back(EdgeId(pick(random, edges)));
    if (chance(random, 3)) highlight.lanes.push_back("TC");
  }
  void fill(AskOptions& options) const {
    if (chance(random, 2)) return;
    fill(options.slack.exact);
    fill(options.latency.op);
    fill(options.latency.from);
    fill(options.latency.to);
    options.sensitivity.percent = static_cast<int>(pick(random, 40)) - 3;
    options.alternatives.count = static_cast<int>(pick(random, 6)) - 1;
    if (chance(random, 4)) fill(options.explain.ii);
    fill(options.alternatives.ii_only);
    constexpr std::array kAll{Resource::Warps, Resource::Registers, Resource::Smem, Resource::Stages, Resource::Tmem};
    options.family.vary.clear();
    for (std::size_t n = pick(random, 3); n-- > 0;) options.family.vary.push_back(chance(random, 2) ? "groups=1..3" : random_text(random));
    options.pareto.against.clear();
    for (std::size_t n = pick(random, 4); n-- > 0;) options.pareto.against.push_back(kAll[pick(random, kAll.size())]);
  }
  void fill(KernelOptions& options) const {
    options.build.cluster = static_cast<int>(pick(random, 5)) - 1;
    fill(options.build.turns);
    fill(options.records);
    if (chance(random, 3)) options.trips = number();
  }
  void fill(LayoutChoices& choices) const {
    static const std::vector<std::string> kLayouts{"panels 128",  "panels 32",      "rows",    "rows 72",
                                                   "accumulator", "(64,64):(64,1)", "nonsense"};
    static const std::vector<InstructionChoice> kInstructions{
        {"st.shared.8", {}}, {"st.shared.8", {2, 3}}, {"stmatrix.x4", {}}, {"st.shared.4", {9, 30}}, {"nothing", {}}};
    const auto& kernel = session.content().kernel;
    choices = session.content().choices;
    if (chance(random, 3)) choices = {};
    if (chance(random, 2))
      choices.layouts[kernel && !kernel->values.empty() ? pick_of(random, kernel->values).name : "x"] = pick_of(random, kLayouts);
    if (chance(random, 2))
      choices.instructions[kernel && !kernel->body.empty() ? pick_of(random, kernel->body).name : "x"] = pick_of(random, kInstructions);
  }
  void fill(Schedule& schedule) const {
    const std::vector<EntryPtr>& all = session.content().schedules;
    if (all.empty()) return;
    schedule = pick_of(random, all)->schedule;
    if (!schedule.ops.empty() && chance(random, 2)) schedule.ops[pick(random, schedule.ops.size())].start += 1;
    if (chance(random, 8)) schedule.ops.clear();
  }
  /// A type that is filled elsewhere, or stays as it is.
  template <class T>
  void fill(T&) const {}
  template <class T>
  T any() const {
    T value{};
    fill(value);
    return value;
  }

  std::string kernel() const {
    static const std::vector<std::string> kNames{
        "toy_fig1", "toy_fig1", "gemm_hopper", "attention_forward_hopper", "layernorm", "attention_forward_blackwell", "nonsense", ""};
    return pick_of(random, kNames);
  }
  std::string machine() const {
    static const std::vector<std::string> kNames{"toy", "toy", "h100", "h100", "b200", "no machine"};
    return pick_of(random, kNames);
  }
};

/// Every change of the view and of settings: each is made as often as a command of its own. A new one is added here.
constexpr Command (*kChanges[])(const Source&) = {
    [](const Source& s) -> Command { return show_tab(s.any<BottomTab>()); },
    [](const Source& s) -> Command {
      static const std::vector<bool PaneSizes::*> kPanes{&PaneSizes::left_folded, &PaneSizes::right_folded, &PaneSizes::bottom_folded};
      return fold_pane(pick_of(s.random, kPanes), s.any<bool>());
    },
    [](const Source& s) -> Command { return show_chart_as(s.any<ChartView>()); },
    [](const Source& s) -> Command { return show_highlight(s.any<Highlight>()); },
    [](const Source&) -> Command { return end_highlight(); },
    [](const Source& s) -> Command { return show_editor(s.any<std::optional<SourceOf>>()); },
    [](const Source&) -> Command { return toggle_critical(); },
    [](const Source&) -> Command { return toggle_barriers(); },
    [](const Source&) -> Command { return toggle_tensor(); },
    [](const Source&) -> Command { return toggle_queues(); },
    [](const Source&) -> Command { return toggle_keys(); },
    [](const Source&) -> Command { return show_open_dialog(); },
    [](const Source&) -> Command { return toggle_legend(); },
    [](const Source&) -> Command { return zoom_to_selection(); },
    [](const Source& s) -> Command { return copy_text(random_text(s.random)); },
    [](const Source&) -> Command { return dismiss_notice(); },
    [](const Source& s) -> Command { return use_theme(s.any<ThemeName>(), s.any<bool>()); },
    [](const Source& s) -> Command { return use_scale(static_cast<int>(pick(s.random, 12)) * 25, s.any<bool>()); },
    [](const Source& s) -> Command {
      static const std::vector<std::string> kIds{"solve", "undo", "larger", "zoom_in", "no such action"};
      static const std::vector<std::string> kKeys{"Ctrl+K", "F7 F8", "Ctrl+Ctrl", "", "Q"};
      return use_keys(pick_of(s.random, kIds), chance(s.random, 3) ? std::nullopt : std::optional(pick_of(s.random, kKeys)));
    },
    [](const Source&) -> Command { return use_built_in_keys(); },
    [](const Source& s) -> Command { return scroll_with_wheel(s.any<bool>()); },
    [](const Source& s) -> Command { return run_on(chance(s.random, 2) ? "" : random_text(s.random)); },
    [](const Source& s) -> Command { return remember_choice(random_text(s.random)); },
};

template <class C>
Command make(const Source& s) {
  C c;
  if constexpr (std::is_same_v<C, OpenPair>) {
    c.kernel = s.kernel(), c.machine = s.machine();
  } else if constexpr (std::is_same_v<C, OpenKernel>) {
    c.name = s.kernel();
  } else if constexpr (std::is_same_v<C, OpenMachine>) {
    c.name = s.machine();
  } else if constexpr (std::is_same_v<C, SetParam>) {
    const auto& kernel = s.session.content().kernel;
    c.name = kernel && !kernel->params.empty() ? pick_of(s.random, kernel->params).name : "T";
    c.value = s.number();
  } else if constexpr (std::is_same_v<C, EditSource>) {
    c.of = s.any<SourceOf>(), c.typing = s.any<bool>();
    const SourceText* text = s.session.texts().text_of(c.of);
    c.text = text ? text->text : "";
    if (!chance(s.random, 4)) c.text = mutate_json(c.text, s.random);
  } else if constexpr (std::is_same_v<C, NewKernel>) {
    const Pattern& pattern = pick_of(s.random, patterns());
    const auto kernel = kernel_of(pattern, {});
    c.text = chance(s.random, 4) ? random_text(s.random) : brief_kernel_text(*kernel);
  } else if constexpr (std::is_same_v<C, ShowPart>) {
    static const std::vector<std::string> readings{"full", "issue-slots", "triton", "free", "none of these"};
    if (chance(s.random, 2)) c.part.reading = pick_of(s.random, readings);
    if (chance(s.random, 3)) c.part.loop = static_cast<std::int64_t>(pick(s.random, 4)) - 1;
    if (chance(s.random, 4)) c.part.words = random_text(s.random);
  } else if constexpr (std::is_same_v<C, ShowSide>) {
    c.whose = triton::kAllWhose[pick(s.random, triton::kAllWhose.size())];
  } else if constexpr (std::is_same_v<C, OpenPlace>) {
    c.file = random_text(s.random), c.line = static_cast<int>(pick(s.random, 200)) - 5;
  } else {
#define HEDDLE_FILL(member) \
  if constexpr (requires { c.member; }) s.fill(c.member)
    if constexpr (requires { c.path; }) c.path = pick_of(s.random, s.paths);
    HEDDLE_FILL(index);
    HEDDLE_FILL(name);
    // "What if it were that machine".
    if constexpr (
        requires {
          c.name;
          c.solve;
        } &&
        !requires { c.index; })
      c.name = s.machine();
    HEDDLE_FILL(value);
    HEDDLE_FILL(constraint);
    HEDDLE_FILL(change);
    HEDDLE_FILL(changes);
    HEDDLE_FILL(choices);
    HEDDLE_FILL(limit);
    HEDDLE_FILL(solve);
    HEDDLE_FILL(op);
    HEDDLE_FILL(ops);
    HEDDLE_FILL(start);
    HEDDLE_FILL(group);
    HEDDLE_FILL(schedule);
    HEDDLE_FILL(as_baseline);
    HEDDLE_FILL(alignment);
    HEDDLE_FILL(note);
    HEDDLE_FILL(text);
    HEDDLE_FILL(of);
    HEDDLE_FILL(topic);
    HEDDLE_FILL(options);
    HEDDLE_FILL(extend);
    HEDDLE_FILL(mode);
    HEDDLE_FILL(count);
    HEDDLE_FILL(at);
    HEDDLE_FILL(kind);
    HEDDLE_FILL(visible_only);
    HEDDLE_FILL(light);
    HEDDLE_FILL(whole_window);
    HEDDLE_FILL(pin);
    HEDDLE_FILL(hold_group);
    HEDDLE_FILL(even_unsaved);
    HEDDLE_FILL(step);
    HEDDLE_FILL(profile);
    HEDDLE_FILL(data);
    if constexpr (requires { c.interleavings; }) c.interleavings = static_cast<std::int64_t>(pick(s.random, 4));
#undef HEDDLE_FILL
  }
  return c;
}

template <class... C>
Command make_any(std::size_t which, const Source& source, CommandTypes<C...>) {
  using Maker = Command (*)(const Source&);
  constexpr std::array<Maker, sizeof...(C)> kMakers{make<C>...};
  return kMakers[which](source);
}

}  // namespace

std::string random_text(Random& random) {
  static const std::vector<std::string> kWords{"exp",
                                               "QK0",
                                               "light",
                                               "solve",
                                               "0",
                                               "12",
                                               "-3",
                                               "1e9",
                                               "99999999999999999999",
                                               "%s%n",
                                               "\xc3\xa9",
                                               "\xe2\x86\x92",
                                               "\xf0\x9f\x92\xa5",
                                               "\xff\xfe",
                                               "\x1b[31m",
                                               "\xe2\x80\xae",
                                               " ",
                                               "'",
                                               "\"",
                                               "##",
                                               "###id",
                                               "a very long word indeed",
                                               ">",
                                               "="};
  std::string text;
  for (std::size_t n = pick(random, 4) + 1; n-- > 0;) text += pick_of(random, kWords);
  if (chance(random, 20)) text = std::string(3000, 'x');
  return text;
}

Command random_command(Random& random, const Session& session, const std::vector<std::string>& paths) {
  constexpr std::size_t kCount = AllCommands::kCount;
  const Source source{random, session, paths};
  for (;;) {
    const std::size_t which = pick(random, kCount + std::size(kChanges));
    Command command = which < kCount ? make_any(which, source, AllCommands()) : kChanges[which - kCount](source);
    if (!command.is<Quit, ChangeView, ChangeSettings>()) return command;
  }
}

std::vector<Command> every_change(Random& random, const Session& session) {
  const Source source{random, session, {}};
  std::vector<Command> all;
  for (const auto make_change : kChanges) all.push_back(make_change(source));
  return all;
}

std::string name_of(const Command& command) {
  const auto* view = command.as<ChangeView>();
  const auto* settings = command.as<ChangeSettings>();
  const std::type_info& type = view && view->change           ? view->change.target_type()
                               : settings && settings->change ? settings->change.target_type()
                                                              : command.type();
  int status = 0;
  char* name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? name : type.name();
  std::free(name);
  text = text.substr(0, text.find('('));  // of "heddle::app::show_tab(heddle::app::BottomTab)::{lambda ..."
  const std::size_t colon = text.rfind(':');
  return colon == std::string::npos ? text : text.substr(colon + 1);
}

}  // namespace heddle::test
