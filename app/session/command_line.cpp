// Which of the options and arguments a command takes is asked of the command table.
#include "app/session/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/command/arguments.h"
#include "app/command/command_table.h"
#include "app/jobs/file_names.h"
#include "app/jobs/package_job.h"
#include "app/session/kernel_state.h"
#include "app/session/project.h"
#include "app/session/proposal.h"
#include "app/session/proposal_commands.h"
#include "app/session/sweep_state.h"
#include "app/session/texts.h"
#include "app/session/truth_state.h"
#include "app/session/view_state.h"
#include "codegen/program/target.h"
#include "core/answers/layout_view.h"
#include "core/chart/gantt_model.h"
#include "core/formats/choices_json.h"
#include "core/kernel/subtile.h"
#include "core/library/library.h"
#include "core/schedule/constraint_text.h"
#include "core/triton/audit/comparison.h"

namespace heddle::app {
namespace {

constexpr int kUsualStages = 6;  // that `heddle solve` tries without --max-stages

/// The project's file, where a command line that names it finds just what is on the screen.
std::string project_to_name(const Session& session) {
  const std::string& file = session.projects().project_as_shown();
  return is_project(file) ? file : std::string();
}

/// Where it is not the kernel's file that stands for the machine too.
void add_machine(const Content& content, std::vector<std::string>& words) {
  if (content.allows(SourceUse::OtherMachine)) words.push_back(name_in_library(Shelf::Machines, content.machine->file));
}

/// --param, --set and --demand, as far as `takes` wants them.
template <class Takes>
void add_question(const Content& content, const Takes& takes, const std::vector<std::string>& free, std::vector<std::string>& words) {
  const auto add = [&](const char* flag, std::string value) {
    if (takes(flag)) words.insert(words.end(), {flag, std::move(value)});
  };
  for (const auto& [name, value] : content.overrides)
    if (std::find(free.begin(), free.end(), name) == free.end()) add("--param", fmt::format("{}={}", name, value));
  for (const Change& change : content.changes)
    if (change.enabled) add("--set", describe(change));
  for (const auto& [name, text] : content.choices.layouts) add("--layout", name + "=" + text);
  for (const auto& [name, choice] : content.choices.instructions) add("--instruction", name + "=" + instruction_text(choice));
  // What the compiler's file demands comes with it.
  const auto given = [&](const UserConstraint& c) {
    return content.given && std::find(content.given->begin(), content.given->end(), c) != content.given->end();
  };
  for (const UserConstraint& constraint : content.constraints)
    if (constraint.enabled && !given(constraint)) add("--demand", describe(constraint));
}

/// How the kernel is written, as far as `takes` wants it.
template <class Takes>
void add_kernel_options(const Content& content, const Takes& takes, std::vector<std::string>& words) {
  for (const OptionWord& word : option_words(content.kernel_options)) {
    if (!takes(word.flag)) continue;
    words.push_back(word.flag);
    if (!word.value.empty()) words.push_back(word.value);
  }
}

/// Where loops begin, if elsewhere than at first: what the compiler wanted of the text that is shown.
template <class Takes>
void add_cuts(const Session& session, const Takes& takes, std::vector<std::string>& words) {
  const auto& text = session.kernel().text();
  if (!takes("--cut") || !KernelState::is_current(text, KernelState::subject_of(session.content()))) return;
  const std::vector<int>& cuts = text.answer()->build.cuts;
  if (std::all_of(cuts.begin(), cuts.end(), [](int cut) { return cut == 0; })) return;
  for (const int cut : cuts) words.insert(words.end(), {"--cut", fmt::format("{}", cut)});
}

/// That a command takes; all of them where it is unknown.
auto taker_of(const CommandSpec* command) {
  return [command](std::string_view flag) {
    return !command ||
           std::any_of(command->options.begin(), command->options.end(), [&](const OptionSpec& option) { return option.flag == flag; });
  };
}

std::vector<std::string> mode_words(const Session& session) {
  std::vector<std::string> words{"--mode", to_string(session.view().mode)};
  if (session.view().mode != GanttMode::Steady) words.insert(words.end(), {"--iterations", fmt::format("{}", session.iterations())});
  return words;
}

/// What `show` and `export` draw besides.
std::vector<std::string> drawn_words(const Session& session) {
  std::vector<std::string> words = mode_words(session);
  if (session.view().barriers) words.push_back("--barriers");
  if (session.view().tensor) words.push_back("--tensor-memory");
  if (session.view().queues) words.push_back("--queues");
  return words;
}

std::vector<std::string> align_words(const Session& session) {
  const Alignment& alignment = session.view().alignment;
  if (alignment.at == Alignment::At::Most) return {"--align", "most"};
  if (alignment.at == Alignment::At::Op && alignment.op.valid()) return {"--align", session.content().problem->op(alignment.op).name};
  return {};
}

std::vector<std::string> host_words(const Session& session) {
  const std::string& host = session.settings().run_host;
  return host.empty() ? std::vector<std::string>() : std::vector<std::string>{"--on", host};
}

}  // namespace

std::string command_line(const Session& session, std::string_view subcommand, const std::vector<std::string>& extra,
                         const std::vector<std::string>& free) {
  const Content& content = session.content();
  if (!content.kernel || !content.machine) return {};
  const CommandSpec* command = find_command(subcommand);
  const auto takes = taker_of(command);
  const auto positionals = [&](PositionalType type) {
    return command ? std::count_if(command->positionals.begin(), command->positionals.end(),
                                   [&](const PositionalSpec& positional) { return positional.type == type; })
                   : 1;
  };
  std::vector<std::string> words{"heddle", std::string(subcommand)};
  // With several schedules the caller has to say which is which.
  const ScheduleEntry* entry = positionals(PositionalType::Schedule) == 1 ? content.entry() : nullptr;
  if (entry && entry->file.empty()) {
    if (const std::string project = project_to_name(session); !project.empty()) {
      words.push_back(project);
      add_kernel_options(content, takes, words);
      add_cuts(session, takes, words);
      words.insert(words.end(), extra.begin(), extra.end());
      return shell_words(words);
    }
    // A compiler's file stands for its own schedule, not for what is solved of it.
    const bool text = content.source && content.source->has_own();
    const bool own = text && entry->name == row_name(triton::Whose::Tritons) && content.changes.empty();
    if (text && !own && subcommand != "solve") return {};
    if (!own && !entry->of_solver && !(entry->robust && takes("--robust"))) return {};
  }
  if (session.texts().text_unsaved(SourceOf::Kernel) || session.texts().text_unsaved(SourceOf::Machine))
    return {};  // its file says something else
  if (positionals(PositionalType::Kernel) > 0) words.push_back(name_in_library(Shelf::Kernels, content.kernel->source));
  if (positionals(PositionalType::Machine) > 0) add_machine(content, words);
  add_question(content, takes, free, words);
  // The window lets a pin be as far out as it was dropped.
  const bool solves = subcommand == "solve" || (entry && entry->file.empty());
  if (const int stages = content.problem ? stages_wanted(content) : 0; solves && stages > kUsualStages && takes("--max-stages"))
    words.insert(words.end(), {"--max-stages", fmt::format("{}", stages)});
  if (entry && entry->file.empty() && entry->robust) words.push_back("--robust");
  if (entry && entry->file.empty() && entry->least_ii && takes("--least-ii")) words.push_back("--least-ii");
  if (const std::int64_t limit = session.settings().search_seconds; limit != Settings{}.search_seconds && takes("--timeout"))
    words.insert(words.end(), {"--timeout", fmt::format("{}", limit)});
  add_kernel_options(content, takes, words);
  add_cuts(session, takes, words);
  words.insert(words.end(), extra.begin(), extra.end());
  if (entry && !entry->file.empty()) words.push_back(name_in_library(Shelf::Schedules, entry->file));
  return shell_words(words);
}

std::string why_no_line(const Session& session) {
  const Content& content = session.content();
  if (!content.kernel) return "nothing is open";
  if (!content.machine) return "a command line needs a machine too";
  for (const SourceOf of : {SourceOf::Kernel, SourceOf::Machine})
    if (session.texts().text_unsaved(of))
      return fmt::format("save the {} or the project first: the text is in no file", of == SourceOf::Kernel ? "kernel" : "machine");
  return "save the project first, as NAME.heddle.json: no command line finds just this schedule without its file";
}

std::string shown_as_command(const Session& session) { return command_line(session, "show", drawn_words(session)); }

std::string ask_command(const Session& session, Topic topic, const AskOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  switch (topic) {
    case Topic::Explain:
      if (options.explain.ii) add({"--ii", fmt::format("{}", *options.explain.ii)});
      break;
    case Topic::Slack:
      if (options.slack.exact) add({"--exact"});
      break;
    case Topic::Price:
      if (options.layouts_open) add({"--choose", "all"});
      break;
    case Topic::Latency: {
      const Content& content = session.content();
      const OpId op = options.latency.op.valid() ? options.latency.op : session.selection().primary();
      if (!content.problem || !op.valid() || op.index() >= content.problem->ops.size()) return {};
      add({content.problem->op(op).name});
      if (options.latency.from) add({"--from", fmt::format("{}", *options.latency.from)});
      if (options.latency.to) add({"--to", fmt::format("{}", *options.latency.to)});
      break;
    }
    case Topic::Sensitivity:
      add({"--percent", fmt::format("{}", options.sensitivity.percent)});
      if (options.layouts_open) add({"--choose", "all"});
      break;
    case Topic::Alternatives:
      add({"--count", fmt::format("{}", options.alternatives.count), "--differ", to_string(options.alternatives.aspect)});
      if (options.alternatives.ii_only) add({"--equal", "ii"});
      break;
    case Topic::Pareto:
      for (const Resource r : options.pareto.against) add({"--against", to_string(r)});
      if (options.layouts_open) add({"--choose", "all"});
      break;
    case Topic::Family: {
      std::vector<std::string> free;
      for (const std::string& text : options.family.vary) {
        add({"--vary", text});
        free.push_back(text.substr(0, text.find('=')));
      }
      return command_line(session, to_string(topic), words, free);
    }
    case Topic::Paper:
      if (options.paper.u != PaperOptions{}.u) add({"--u", fmt::format("{}", options.paper.u)});
      for (const std::string& name : options.paper.ablations) add({"--ablation", name});
      break;
    case Topic::Layouts: return command_line(session, "solve", {"--choose", "all"});
    case Topic::Compare:
      // Shipped schedules take part by themselves.
      for (const EntryPtr& entry : session.content().schedules)
        if (const std::string name = name_in_library(Shelf::Schedules, entry->file);
            !name.empty() && name == entry->file && std::find(words.begin(), words.end(), name) == words.end())
          add({name});
      break;
  }
  return command_line(session, to_string(topic), words);
}

std::string check_kernel_command(const Session& session, const CheckRequest& request) {
  std::vector<std::string> words{"--interleavings", fmt::format("{}", request.interleavings)};
  if (request.data) words.push_back("--data");
  return command_line(session, "interpret", words);
}

std::string run_kernel_command(const Session& session, bool profile) {
  return command_line(session, profile ? "profile" : "run", host_words(session));
}

std::string race_command(const Session& session) { return command_line(session, "race", host_words(session)); }

std::vector<std::string> kernel_words(const Content& content, std::string_view command) {
  std::vector<std::string> words{name_in_library(Shelf::Kernels, content.kernel->source)};
  add_machine(content, words);
  add_question(
      content, [&](std::string_view flag) { return flag != "--demand" || command == "race"; }, {}, words);  // which has the solver search
  add_kernel_options(content, taker_of(find_command(command)), words);
  return words;
}

std::vector<std::string> tune_words(const Content& content, TuneOptions options, const std::string& history, const SweepHead* earlier) {
  // What is open may be a point, whose kernel is cut.
  const std::string kernel = earlier ? split_cuts(content.kernel->source).kernel : content.kernel->source;
  std::vector<std::string> words{"tune", name_in_library(Shelf::Kernels, kernel), name_in_library(Shelf::Machines, content.machine->file)};
  Content question = content;
  if (earlier) {
    question.overrides = earlier->params;
    options.seed = earlier->seed.value_or(options.seed);
  }
  // Demands are of one configuration; the tuner's space has its own.
  add_question(
      question, [](std::string_view flag) { return flag != "--demand"; }, {}, words);
  const auto add = [&](const char* flag, std::string value) { words.insert(words.end(), {flag, std::move(value)}); };
  add("--budget", fmt::format("{}", options.budget));
  add("--method", options.method);
  if (options.seed != 0) add("--seed", fmt::format("{}", options.seed));
  // A history goes on as it was begun.
  const bool written = earlier ? earlier->command.find("--require written") != std::string::npos
                               : options.written && !codegen::refuse_machine(*content.machine);
  if (written) add("--require", "written");
  add("--history", history);
  return words;
}

std::string tune_command(const Session& session, const TuneOptions& options) {
  const Content& content = session.content();
  if (!content.kernel || !content.machine || !content.allows(SourceUse::OtherMachine)) return {};
  const auto& file = session.sweep().file();
  const bool more = file && (session.sweep().why_no_more().empty() || session.sweep().running());
  const std::string history = more ? file->path : safe_file_name(content.kernel->name + "_" + content.machine->name) + ".tuning.jsonl";
  std::vector<std::string> words = tune_words(content, options, history, more ? &session.sweep().table().head : nullptr);
  words.insert(words.begin(), "heddle");
  return shell_words(words);
}

std::string validate_command(const Session& session) {
  const TruthTools& tools = session.truth().tools();
  std::vector<std::string> words{"heddle", "validate"};
  words.insert(words.end(), tools.files.begin(), tools.files.end());
  if (tools.ground) words.insert(words.end(), {"--ground", *tools.ground});
  return shell_words(words);
}

namespace {

/// About the compiler's file that is open, whatever the reading: that is what the subcommand says.
std::string file_line(const Session& session, const char* subcommand, const std::vector<std::string>& extra = {}) {
  const Content& content = session.content();
  if (!content.source || content.source->undecided()) return {};
  std::vector<std::string> words{"heddle", subcommand, content.source->audit_name()};
  if (content.machine && session.texts().text_unsaved(SourceOf::Machine)) return {};
  if (content.machine) add_machine(content, words);
  words.insert(words.end(), extra.begin(), extra.end());
  return shell_words(words);
}

}  // namespace

std::string triton_command(const Session& session) { return file_line(session, session.content().kernel ? "compare" : "audit"); }

std::string audit_command(const Session& session) { return file_line(session, "audit"); }

std::string compare_command(const Session& session) {
  const Content& content = session.content();
  const ScheduleEntry *a = content.entry(), *b = content.baseline_entry();
  if (!a || !b) return {};
  const std::vector<std::string> align = align_words(session);
  const auto file = [](const ScheduleEntry& entry) { return name_in_library(Shelf::Schedules, entry.file); };
  std::vector<std::string> words;
  if (!a->file.empty() && !b->file.empty()) {
    words = {file(*a), file(*b)};
  } else if (const std::string project = project_to_name(session); !project.empty()) {
    words = {"heddle", "diff", project};
    words.insert(words.end(), align.begin(), align.end());
    return shell_words(words);
  } else if (!a->file.empty() && b->of_solver) {
    words = {file(*a)};
  } else if (!b->file.empty() && a->of_solver) {
    words = {file(*b), "--swap"};
  } else {
    return {};
  }
  words.insert(words.end(), align.begin(), align.end());
  return command_line(session, "diff", words);
}

namespace {

/// A picture is the window's, so the window's program makes it.
std::string picture_command(const Session& session, const Export& request) {
  const Content& content = session.content();
  if (!content.kernel || !content.machine) return {};
  const ViewState& view = session.view();
  std::vector<std::string> words{"heddle-gui"};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (const std::string project = project_to_name(session); !project.empty()) {
    add({project});
  } else {
    const ScheduleEntry* entry = content.entry();
    if (content.baseline_entry() || (entry && entry->file.empty() && !entry->of_solver)) return {};
    add({name_in_library(Shelf::Kernels, content.kernel->source)});
    add_machine(content, words);
    add_question(
        content, [](std::string_view) { return true; }, {}, words);
    if (entry && entry->file.empty()) add({"--solve"});
    if (entry && !entry->file.empty()) add({"--schedule", name_in_library(Shelf::Schedules, entry->file)});
  }
  const std::vector<std::string> mode = mode_words(session);
  words.insert(words.end(), mode.begin(), mode.end());
  add({"--theme", request.light ? to_string(ThemeName::Light) : to_string(session.settings().theme)});
  add({"--tab", to_string(view.tab)});
  if (view.window) add({"--size", fmt::format("{}x{}", view.window->first, view.window->second)});
  if (session.settings().scale_percent != 100) add({"--scale", fmt::format("{}", session.settings().scale_percent)});
  if (const auto& visible = view.chart.visible)
    add({"--begin", fmt::format("{}", visible->first), "--end", fmt::format("{}", visible->second)});
  for (const auto& [overlay, on] : view.chart.switches)
    if (on) add({"--show", overlay});
  if (const OpId op = session.selection().primary(); op.valid()) add({"--select", content.problem->op(op).name});
  if (!request.whole_window) add({"--chart-only"});
  add({"--screenshot", request.path});
  return shell_words(words);
}

}  // namespace

std::string package_command(const Session& session, bool torch, const std::string& folder) {
  const Content& content = session.content();
  if (!content.kernel) return {};
  std::vector<std::string> words{"--format", torch ? "torch" : "package", "--out", folder};
  const ScheduleEntry* entry = content.entry();
  const bool has_schedule = entry && (!entry->file.empty() || !project_to_name(session).empty());  // whose sizes the line takes
  const Result<Scope> chosen = has_schedule ? Scope() : general_sizes(*content.kernel, content.overrides);
  for (const auto& [name, value] : chosen ? *chosen : Scope())
    if (const Param* param = content.kernel->find_param(name))
      words.insert(words.end(), {"--param", fmt::format("{}={}", name, param->value)});
  return command_line(session, "emit", words);
}

std::string export_command(const Session& session, const Export& request) {
  std::vector<std::string> words = drawn_words(session);
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  switch (request.kind) {
    case ExportKind::Svg:
      add({"--format", "svg", "--theme", request.light ? "light" : "dark"});
      if (const auto& visible = session.view().chart.visible; request.visible_only && visible)
        add({"--begin", fmt::format("{}", visible->first), "--end", fmt::format("{}", visible->second)});
      if (const ScheduleEntry* b = session.content().baseline_entry();
          b && (session.view().chart_view == ChartView::Split || session.view().chart_view == ChartView::Ghost)) {
        const std::string below = b->file.empty() ? project_to_name(session) : name_in_library(Shelf::Schedules, b->file);
        if (below.empty()) return {};
        add({"--below", below});
        const std::vector<std::string> align = align_words(session);
        words.insert(words.end(), align.begin(), align.end());
      }
      break;
    case ExportKind::Html:
      words = {"--mode", to_string(session.view().mode), "--iterations", fmt::format("{}", session.iterations()), "--format", "html"};
      if (session.view().barriers) add({"--barriers"});
      if (session.view().tensor) add({"--tensor-memory"});
      if (session.view().queues) add({"--queues"});
      break;
    case ExportKind::Trace: words = {"--format", "trace"}; break;
    case ExportKind::Text: add({"--format", "text", "--width", "160"}); break;
    case ExportKind::Csv: words = {"--format", "csv"}; break;
    case ExportKind::DumpGraph:
    case ExportKind::JointSolution: {
      const char* format = request.kind == ExportKind::DumpGraph ? "schedule_graph" : "joint-solver";
      words = {"--format", format};
      break;
    }
    case ExportKind::DumpVariants: return {};  // of the window's list
    case ExportKind::Ttgir: words = {"--format", "ttgir"}; break;
    case ExportKind::Python: return file_line(session, "export", {"--format", "python", "--out", request.path});
    case ExportKind::Png: return picture_command(session, request);
  }
  add({"--out", request.path});
  return command_line(session, "export", words);
}

std::optional<std::string> cli_equivalent(const Session& session, const Command& command) {
  using Line = std::optional<std::string>;
  const Content& content = session.content();
  const auto line = [&](std::string_view subcommand, const std::vector<std::string>& extra = {}) {
    return command_line(session, subcommand, extra);
  };
  const auto shown = [&] { return content.entry() ? shown_as_command(session) : line("solve"); };

  // A proposal's answer stays close to what it came from: time did not decide between orders.
  const auto solved = [&] {
    const ScheduleEntry* entry = content.entry();
    const bool least_ii = session.live().active() ? session.live().least_ii : entry && entry->file.empty() && entry->least_ii;
    return least_ii ? line("solve", {"--least-ii"}) : line("solve");
  };

  if (content.triton() && command.is<OpenFile, OpenKernel, OpenMachine, OpenPair, SwitchMachine, ShowPart, CompareTriton>())
    return triton_command(session);
  if (command.is<ShowSide>()) return shown();
  if (const auto* c = command.as<StartSolve>()) return c->robust ? line("solve", {"--robust"}) : line("solve");
  if (command.is<ContinueSolve, OpenKernel, OpenMachine, OpenPair, SwitchMachine, OpenConstraints, SetParam, Undo, Redo, AdoptMeasured>())
    return solved();
  if (command.is<ToggleConstraint, AddConstraint, ReplaceConstraint, RemoveConstraint, MoveOp, TogglePin, PinOps>()) return solved();
  if (command.is<SetChange, RemoveChange, ToggleChange, ChooseLayouts, TryRelaxation>()) return solved();
  if (command.is<ProveShown>()) {
    const bool has_file = content.entry() && !content.entry()->file.empty();
    return has_file ? line("check", {"--prove"}) : line("solve");
  }
  if (command.is<OpenSchedule, FirstViolation>()) return line("check");
  if (command.is<OpenProject, SelectSchedule, SetMode, SetIterations, OpenPoint, OpenMember, OpenPublished>()) return shown();

  if (const auto* c = command.as<OpenFile>()) {
    if (const auto& sweep = session.sweep().file(); sweep && sweep->path == c->path) return shell_words({"heddle-gui", c->path});
    return content.source ? Line(audit_command(session)) : std::nullopt;
  }
  if (command.is<Validate>()) return validate_command(session);
  if (command.is<ShowPart>()) return audit_command(session);
  if (const auto* c = command.as<OpenSweep>()) return session.sweep().file() ? Line(shell_words({"heddle-gui", c->path})) : std::nullopt;
  if (const auto* c = command.as<StartTune>()) return tune_command(session, c->options);

  if (command.is<SetBaseline, SwapBaseline, SetAlignment, FirstDivergence>())
    return content.baseline_entry() ? Line(compare_command(session)) : std::nullopt;
  if (const auto* c = command.as<Ask>()) return ask_command(session, c->topic, c->options);
  if (command.is<AskWhy>()) return ask_command(session, Topic::Explain, {});

  const std::vector<std::string> again{"--again"};
  if (const auto* c = command.as<WriteKernel>()) return c->again ? line("emit", again) : line("emit");
  if (command.is<SetKernelOptions>()) return line("emit");
  if (const auto* c = command.as<SaveKernel>()) return line("emit", {"--out", c->path});
  if (const auto* c = command.as<SavePackage>()) return package_command(session, c->torch, c->path);
  if (const auto* c = command.as<SaveLayout>()) {
    if (!c->view || c->view->value.empty()) return std::nullopt;
    std::vector<std::string> words{"--value", c->view->value};
    if (!c->view->op.empty()) words.insert(words.end(), {"--op", c->view->op});
    const bool table = c->path.ends_with(".csv"), json = c->path.ends_with(".json");
    if (table || json)
      words.emplace_back(table ? "--csv" : "--json");
    else
      words.insert(words.end(), {"--colour", c->colour, c->path.ends_with(".png") ? "--png" : "--svg", c->path});
    return line("layout", words);
  }
  if (const auto* c = command.as<CheckKernel>()) return check_kernel_command(session, {c->interleavings, c->data});
  if (const auto* c = command.as<BuildKernel>()) return c->again ? line("compile", again) : line("compile");
  if (const auto* c = command.as<RunKernel>()) return run_kernel_command(session, c->profile);
  if (command.as<StartRace>()) return race_command(session);

  if (const auto* c = command.as<Export>()) return export_command(session, *c);
  if (const auto* c = command.as<SaveSchedule>()) return line("export", {"--format", "json", "--out", c->path});
  return std::nullopt;
}

}  // namespace heddle::app
