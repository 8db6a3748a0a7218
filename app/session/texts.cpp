#include "app/session/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/session/edits.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/questions.h"
#include "app/session/solving.h"
#include "core/base/atomic_file.h"
#include "core/base/text_style.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/kernel/subtile.h"
#include "core/library/library.h"
#include "core/library/project_json.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

constexpr double kPause = 0.7;      ///< seconds without a key after which what was typed is solved
constexpr double kLookEvery = 1.0;  ///< seconds between two looks at the disk

Shelf shelf_of(SourceOf of) { return of == SourceOf::Kernel ? Shelf::Kernels : Shelf::Machines; }

std::string name_of(const Content& content, SourceOf of) { return of == SourceOf::Kernel ? content.kernel->name : content.machine->name; }

}  // namespace

const char* word_of(SourceOf of) { return of == SourceOf::Kernel ? "kernel" : "machine"; }

std::string text_trouble(const Content& content) {
  for (const SourceOf of : {SourceOf::Kernel, SourceOf::Machine})
    if (const auto& text = content.text_of(of); text && !text->faults.empty())
      return fmt::format("the {}'s text has {}", word_of(of), count_of(static_cast<std::int64_t>(text->faults.size()), "fault"));
  return {};
}

fs::file_time_type SourceFiles::time_of(const std::string& path) {
  std::error_code code;
  const auto time = fs::last_write_time(path, code);
  return code ? fs::file_time_type::min() : time;
}

SourceFiles::OnDisk* SourceFiles::seen(const std::string& path) {
  const auto found = seen_.find(path);
  return found == seen_.end() ? nullptr : &found->second;
}

void SourceFiles::note(const std::string& path, const std::string& text) { seen_[path] = {text, time_of(path)}; }

bool SourceFiles::unsaved(const Content& content, SourceOf of) const {
  const SourceText* text = content.text_of(of).get();
  if (!text) return false;
  if (text->file.empty()) return text->own;
  const OnDisk* file = seen(text->file);
  return file && file->text != text->text;
}

std::string SourceFiles::why_no_program(const Content& content) const {
  for (const SourceOf of : {SourceOf::Kernel, SourceOf::Machine})
    if (unsaved(content, of)) return fmt::format("save the {} first: another program does this, and reads its file", word_of(of));
  return {};
}

void SourceFiles::attach(Content& next, const Content& now) {
  const auto from_file = [&](const std::string& path, auto otherwise) {
    auto text = std::make_shared<SourceText>();
    const fs::file_time_type changed = time_of(path);
    if (const auto read = split_cuts(path).cuts.empty() && !path.empty() ? read_file(path) : Result<std::string>(Error{})) {
      text->text = *read;
      text->file = path;
      seen_[path] = {*read, changed};
    } else {
      text->text = otherwise();
    }
    return std::shared_ptr<const SourceText>(std::move(text));
  };
  if (next.kernel && !next.kernel_text && next.allows(SourceUse::KernelText))
    next.kernel_text = next.kernel == now.kernel && now.kernel_text
                           ? now.kernel_text
                           : from_file(next.kernel->source, [&] { return kernel_text(*next.kernel); });
  if (next.machine && !next.machine_text && next.allows(SourceUse::MachineText))
    next.machine_text = next.machine == now.machine && now.machine_text
                            ? now.machine_text
                            : from_file(next.machine->file, [&] { return machine_text(*next.machine); });
}

const SourceText* Texts::text_of(SourceOf of) const { return document_.content.text_of(of).get(); }

std::string Texts::why_no_edit(SourceOf of) const {
  if (std::string reason = document_.content.why_not(of == SourceOf::Kernel ? SourceUse::KernelText : SourceUse::MachineText);
      !reason.empty())
    return reason;
  if (text_of(of)) return {};
  return fmt::format("no {} is open", word_of(of));
}

void Texts::take_text(SourceOf of, const std::string& text, const Content& before) {
  Content& now = document_.content;
  auto source = std::make_shared<SourceText>(*now.text_of(of));
  source->text = text;
  source->faults.clear();
  const SourceFiles::OnDisk* seen = files_.seen(source->file);
  source->own = !seen || seen->text != text;
  auto& place = of == SourceOf::Kernel ? now.kernel_text : now.machine_text;
  const std::string name = source->file.empty() ? name_of(now, of) : source->file;
  const auto refuse = [&](std::vector<Fault> faults) {
    source->faults = std::move(faults);
    place = std::move(source);
  };
  Content next = now;
  if (of == SourceOf::Kernel) {
    auto kernel = parse_kernel(text, name);
    if (!kernel) return refuse(kernel.error().faults);
    kernel->source = source->file;
    const bool same = next.kernel->name == kernel->name && heddle::kernel_text(*next.kernel) == heddle::kernel_text(*kernel);
    if (same) return void(place = std::move(source));  // only blanks and line ends differ
    next.kernel = std::make_shared<const Kernel>(*std::move(kernel));
    std::erase_if(next.overrides, [&](const auto& param) { return !next.kernel->find_param(param.first); });
  } else {
    auto machine = parse_machine(text, name);
    if (!machine) return refuse(machine.error().faults);
    machine->file = source->file;
    const bool same = next.machine->name == machine->name && heddle::machine_text(*next.machine) == heddle::machine_text(*machine);
    if (same) return void(place = std::move(source));
    next.machine = std::make_shared<const Machine>(*std::move(machine));
  }
  if (next.kernel && next.machine) {
    auto problem = make_problem(next.spec());
    if (!problem && !(next.changes.empty() && next.choices.empty())) {  // what was changed or chosen by hand may be gone
      problem = make_problem({next.kernel, next.machine, next.overrides});
      if (problem && !next.choices.empty())
        say(LogLevel::Warning, "the text no longer goes with the layouts that were chosen: they are as by default again");
      if (problem) next.changes.clear(), next.choices = {};
    }
    if (!problem && now.problem) return refuse(problem.error().faults);
    if (!problem) source->faults = problem.error().faults;
  }
  place = source;
  (of == SourceOf::Kernel ? next.kernel_text : next.machine_text) = source;

  solving_.abandon(fmt::format("the {}'s text changed", word_of(of)).c_str());
  std::vector<std::string> selected;
  for (const OpId op : document_.selection.ops)
    if (now.problem) selected.push_back(now.problem->op(op).name);
  now = std::move(next);
  edits_.resolve();
  document_.selection.ops.clear();
  if (!now.problem) {
    now.schedules.clear();
    now.shown = now.baseline = std::nullopt;
    return;
  }
  std::erase_if(now.constraints, [&](const UserConstraint& c) {
    return std::any_of(c.ops.begin(), c.ops.end(), [&](const std::string& op) { return !now.problem->find_op(op).valid(); });
  });
  for (const std::string& op : selected)
    if (const OpId id = now.problem->find_op(op); id.valid()) document_.selection.ops.push_back(id);
  edits_.keep_rows(before);
  edits_.judge_again({before.problem, before.constraints});
  questions_.recall_answers();
  view_.fit_all = view_.fit_all || !now.shown;
  document_.last_line.clear();
}

void Texts::on(const StartSolve& c) {
  look_at_files();
  solving_.start(c);
}

void Texts::on(const EditSource& c) {
  if (const std::string reason = why_no_edit(c.of); !reason.empty()) return say(LogLevel::Warning, "not edited: " + reason);
  if (document_.content.text_of(c.of)->text == c.text) return;
  auto& typing = typing_;
  const bool goes_on =
      c.typing && typing && typing->of == c.of && typing->step == document_.undo.changes() && now() - typing->last < kPause;
  if (!goes_on) {
    const bool unsolved = typing && typing->solve;
    typing = Typing{c.of, document_.content, 0, 0, unsolved};
    document_.undo.remember(document_.content, c.what.empty() ? "edit " + name_of(document_.content, c.of) : c.what);
    typing->step = document_.undo.changes();
  }
  typing->last = now();
  const auto problem = document_.content.problem;
  take_text(c.of, c.text, typing->before);
  if (problem != document_.content.problem) typing->solve = true;
  changed();
  if (!c.typing) pump();
}

bool Texts::pump() {
  bool news = false;
  if (now() - looked_ >= kLookEvery) news = look_at_files();
  auto& typing = typing_;
  if (!typing || !typing->solve || typing->step != document_.undo.changes() || now() - typing->last < kPause) return news;
  typing->solve = false;
  if (document_.content.problem && text_trouble().empty()) solving_.solve_changed("edited " + name_of(document_.content, typing->of));
  return true;
}

void Texts::on(const NewKernel& c) {
  auto kernel = parse_kernel(c.text, "the new kernel");
  if (!kernel) return fail("Cannot make this kernel", kernel.error());
  kernel->source.clear();
  Content next;
  next.kernel = std::make_shared<const Kernel>(*std::move(kernel));
  auto text = std::make_shared<SourceText>();
  text->text = c.text;
  text->own = true;
  next.kernel_text = std::move(text);
  const std::vector<std::string> machines = machines_for(*next.kernel);
  if (document_.content.allows(SourceUse::OtherMachine) && document_.content.machine &&
      make_problem({next.kernel, document_.content.machine}).ok()) {
    next.machine = document_.content.machine;
  } else if (!machines.empty()) {
    if (auto machine = load_machine(machines.front())) next.machine = std::make_shared<const Machine>(*std::move(machine));
  }
  const std::string name = next.kernel->name;
  edits_.adopt(std::move(next), "new kernel " + name);
  solving_.solve_opened();
}

void Texts::on(const SaveSource& c) {
  const std::string title = fmt::format("Cannot save the {}", word_of(c.of));
  if (const std::string reason = why_no_edit(c.of); !reason.empty()) return fail(title, Error::input(reason));
  const SourceText& text = *document_.content.text_of(c.of);
  std::error_code code;
  const std::string given = c.path.empty() ? text.file : c.path;
  if (given.empty()) return fail(title, Error::input("it has no file yet", "save it under a name"));
  const std::string path = c.path.empty() ? given : fs::absolute(given, code).lexically_normal().string();
  if (const std::string shipped = name_in_library(shelf_of(c.of), path); shipped != path)
    return fail(title, Error::input(fmt::format("{} ships with Heddle and stays as it is", shipped), "save yours under another name"));
  if (const auto saved = write_file(path, text.text); !saved) return fail(title, saved.error());
  files_.note(path, text.text);
  Content& now = document_.content;
  auto placed = std::make_shared<SourceText>(text);
  const bool elsewhere = std::exchange(placed->file, path) != path;
  placed->own = false;
  // What the file is called changes no number: schedules and proofs stay.
  if (c.of == SourceOf::Kernel) {
    if (elsewhere) {
      auto kernel = std::make_shared<Kernel>(*now.kernel);
      kernel->source = path;
      now.kernel = std::move(kernel);
    }
    now.kernel_text = std::move(placed);
  } else {
    if (elsewhere) {
      auto machine = std::make_shared<Machine>(*now.machine);
      machine->file = path;
      now.machine = std::move(machine);
    }
    now.machine_text = std::move(placed);
  }
  if (c.of == SourceOf::Kernel) remember_recent(settings_, path);
  say(LogLevel::Good, "saved " + path);
  if (const std::string trouble = text_trouble(); !trouble.empty()) say(LogLevel::Warning, trouble);
  changed();
}

bool Texts::look_at_files() {
  looked_ = now();
  bool news = false;
  for (const SourceOf of : {SourceOf::Kernel, SourceOf::Machine}) {
    const auto text = document_.content.text_of(of);
    if (!text || text->file.empty()) continue;
    SourceFiles::OnDisk* seen = files_.seen(text->file);
    const fs::file_time_type changed_at = SourceFiles::time_of(text->file);
    if (!seen || changed_at == seen->changed || changed_at == fs::file_time_type::min()) continue;
    const auto read = read_file(text->file);
    if (!read) continue;  // somebody is writing it: the next look finds it
    const bool untouched = text->text == seen->text;
    const bool other = *read != seen->text;
    *seen = {*read, changed_at};
    if (!other || *read == text->text) continue;
    news = true;
    const std::string name = base_name(text->file);
    if (untouched) {
      on(EditSource{of, *read, false, "read " + name + " again"});
      const auto& now_text = document_.content.text_of(of);
      view_.notice = name + " has changed on disk and was read again" +
                     (now_text->faults.empty() ? ""
                                               : "; it has " + count_of(static_cast<std::int64_t>(now_text->faults.size()), "fault") +
                                                     ", so the chart still shows what it said before");
      if (typing_) typing_->last = now() - kPause;  // the pause that ends typing is over: solve at once
    } else {
      view_.notice = name + " has changed on disk; your own text is kept. \"Read the file again\" takes the file's.";
    }
    say(LogLevel::Warning, view_.notice);
    changed();
  }
  return news;
}

void Texts::on(const ReadSourceAgain& c) {
  const auto text = document_.content.text_of(c.of);
  if (!text || text->file.empty()) return say(LogLevel::Warning, fmt::format("the {} has no file to read again", word_of(c.of)));
  const auto read = read_file(text->file);
  if (!read) return fail("Cannot read " + base_name(text->file), read.error());
  files_.note(text->file, *read);
  on(EditSource{c.of, *read, false, "read " + base_name(text->file) + " again"});
}

void Texts::add_texts(Project& project) const {
  const auto keep = [&](SourceOf of, ProjectText& kept, std::string shown) {
    const SourceText* text = text_of(of);
    if (!files_.unsaved(document_.content, of)) return;
    kept.text = text->faults.empty() ? text->text : std::move(shown);
    if (!text->faults.empty()) kept.draft = text->text;
  };
  if (project.spec.kernel) keep(SourceOf::Kernel, project.kernel_text, heddle::kernel_text(*project.spec.kernel));
  if (project.spec.machine) keep(SourceOf::Machine, project.machine_text, heddle::machine_text(*project.spec.machine));
}

}  // namespace heddle::app
