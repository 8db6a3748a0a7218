// A path becomes launches, each launch is judged, and where more sizes are asked for, what the run did with its maps says which.
#include "app/ask/ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/command/option_words.h"
#include "app/command/ptx_form.h"
#include "core/base/atomic_file.h"
#include "core/library/library.h"
#include "ptx/launch/launch_json.h"
#include "ptx/launch/triton_launch.h"
#include "ptx/text/parse.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

Error with_file(Error error, const std::string& file) {
  for (Fault& fault : error.faults)
    if (fault.file.empty() && fault.part.empty()) fault.file = file;
  return error;
}

/// A launch of which name and text are known.
PtxLaunch named(std::string name, std::string text_path) {
  PtxLaunch made;
  made.as.name = std::move(name);
  made.as.text_path = std::move(text_path);
  return made;
}

/// From a path and words to launches.
class LaunchMaker {
 public:
  explicit LaunchMaker(const PtxQuestion& question) : question_(question) {}

  /// Of a text with several kernels of which nothing names one: one launch each, where that was asked for.
  Result<std::vector<PtxLaunch>> of_text(const PtxPath& path) {
    const std::string kernel = path.kernel.empty() ? question_.kernel : path.kernel;
    Result<PtxLaunch> made = from_text(question_.path, path.file, kernel);
    if (made) return std::vector<PtxLaunch>{*std::move(made)};
    const bool many = made.error().faults.front().part == "launch kernel";
    if (!many || !question_.every_kernel) return made.error();
    std::vector<PtxLaunch> launches;
    for (const ptx::PtxFunction& function : modules_.at(path.file)->functions) {
      if (!function.entry) continue;
      const std::string name(function.name);
      if (Result<PtxLaunch> each = from_text(path.file + "#" + name, path.file, name))
        launches.push_back(*std::move(each));
      else
        launches.push_back(unreadable(path.file + "#" + name, path.file, each.error()));
    }
    return launches;
  }

  Result<PtxLaunch> from_launch(const std::string& path) {
    PtxLaunch made = named(path, {});
    const auto find = [&](const ptx::Launch& launch, const std::string& word) -> std::optional<ptx::NamedParameter> {
      made.as.text_path = ptx::text_path_of(launch, path);
      return read_text(made) ? parameter_called(word, *made.as.module, kernel_of(launch)) : std::nullopt;
    };
    std::vector<Fault> warnings;
    Result<ptx::Launch> launch = ptx::read_launch(path, &warnings, find);
    if (!launch) return launch.error();
    made.as.launch = *std::move(launch);
    made.as.text_path = ptx::text_path_of(made.as.launch, path);
    warn(warnings, made);
    if (made.as.text_path.empty()) return Error::in_file(path, "names no PTX", "give it, and this file as its launch");
    if (const Result<Ok> read = read_text(made); !read) return read.error();
    return finish(std::move(made), question_.kernel);
  }

  /// With what is known of its text.
  PtxLaunch unreadable(std::string name, std::string text_path, Error error) const {
    PtxLaunch made = named(std::move(name), std::move(text_path));
    made.as.error = in_options(std::move(error));
    if (const auto known = modules_.find(made.as.text_path); known != modules_.end()) made.as.module = known->second;
    return made;
  }

 private:
  Result<PtxLaunch> from_text(std::string name, const std::string& path, const std::string& kernel) {
    PtxLaunch made = named(std::move(name), path);
    if (const Result<Ok> read = read_text(made); !read) return read.error();
    const std::string launch_path = question_.launch_path.empty() ? beside(path) : question_.launch_path;
    triton_path_.clear();
    if (!launch_path.empty()) {
      const Result<std::string> json = read_file(launch_path);
      if (!json) return json.error();
      if (ptx::says_triton(*json) && !ptx::says_launch(*json)) {
        triton_path_ = launch_path;
      } else {
        const auto find = [&](const ptx::Launch& launch, const std::string& word) {
          return parameter_called(word, *made.as.module, kernel.empty() ? launch.kernel : kernel);
        };
        std::vector<Fault> warnings;
        Result<ptx::Launch> launch = ptx::parse_launch(*json, launch_path, &warnings, find);
        if (!launch) return launch.error();
        made.as.launch = *std::move(launch);
        warn(warnings, made);
      }
      if (question_.launch_path.empty()) made.as.told.push_back("launched as " + launch_path + " says");
    }
    return finish(std::move(made), kernel);
  }

  static void warn(const std::vector<Fault>& warnings, PtxLaunch& made) {
    for (const Fault& warning : warnings) made.warnings.push_back(to_string(warning));
  }

  const std::string& kernel_of(const ptx::Launch& launch) const { return question_.kernel.empty() ? launch.kernel : question_.kernel; }

  static std::optional<ptx::NamedParameter> parameter_called(const std::string& word, const ptx::PtxModule& module,
                                                             const std::string& kernel) {
    const Result<const ptx::PtxFunction*> entry = ptx::find_entry(module, {}, kernel);
    if (!entry) return std::nullopt;
    const std::vector<ptx::EntryParameter> parameters = ptx::entry_parameters(**entry);
    const ptx::EntryParameter* found = ptx::find_parameter(parameters, word);
    if (found == nullptr || found->type.empty()) return std::nullopt;
    return ptx::NamedParameter{word, found->at, found->type};
  }

  /// Once for all launches of a text.
  Result<Ok> read_text(PtxLaunch& made) {
    std::shared_ptr<const ptx::PtxModule>& known = modules_[made.as.text_path];
    if (!known) {
      Result<std::string> text = read_file(made.as.text_path);
      if (!text) return text.error();
      Result<ptx::PtxModule> module = ptx::parse(*std::move(text), made.as.text_path);
      if (!module) return module.error();
      known = std::make_shared<const ptx::PtxModule>(*std::move(module));
    }
    made.as.module = known;
    return Ok{};
  }

  /// gemm.json of gemm.ptx, where that is a launch, or Triton's.
  static std::string beside(const std::string& text_path) {
    const std::string path = fs::path(text_path).replace_extension(".json").string();
    if (!is_file(path)) return {};
    const Result<std::string> text = read_file(path);
    return text && (ptx::says_launch(*text) || ptx::says_triton(*text)) ? path : std::string();
  }

  Result<PtxLaunch> finish(PtxLaunch made, const std::string& kernel) {
    ptx::Launch& launch = made.as.launch;
    if (!kernel.empty()) launch.kernel = kernel;
    const Result<const ptx::PtxFunction*> entry = ptx::find_entry(*made.as.module, made.as.text_path, launch.kernel);
    if (!entry) return entry.error();
    launch.kernel = std::string((*entry)->name);
    const std::vector<ptx::EntryParameter> parameters = ptx::entry_parameters(**entry);
    ptx::HandWords words = question_.words;
    if (!triton_path_.empty()) {
      Result<ptx::TritonLaunch> triton = from_triton(parameters, made.as.text_path);
      if (!triton) return triton.error();
      triton->base.kernel = launch.kernel;
      launch = std::move(triton->base);
      words.maps.insert(words.maps.begin(), triton->words.maps.begin(), triton->words.maps.end());
      words.parameters.insert(words.parameters.begin(), triton->words.parameters.begin(), triton->words.parameters.end());
    }
    Result<ptx::Launch> whole = ptx::launch_by_hand(words, parameters, std::move(launch));
    if (!whole) return with_file(whole.error(), made.as.text_path);
    made.as.launch = *std::move(whole);
    if (!question_.sizes.empty()) {
      Result<ptx::ResizedLaunch> resized = ptx::resized(made.as.launch, question_.sizes);
      if (!resized) return resized.error();
      made.as.launch = std::move(resized->launch);
      made.as.told.insert(made.as.told.end(), resized->told.begin(), resized->told.end());
    }
    return made;
  }

  Result<ptx::TritonLaunch> from_triton(const std::vector<ptx::EntryParameter>& parameters, const std::string& text_path) const {
    const Result<std::string> json = read_file(triton_path_);
    if (!json) return json.error();
    const std::string ttgir_path = fs::path(text_path).replace_extension(".ttgir").string();
    const Result<std::string> ttgir = is_file(ttgir_path) ? read_file(ttgir_path) : Result<std::string>(std::string());
    return ptx::triton_launch({*json, triton_path_, ttgir.ok() ? *ttgir : std::string()}, parameters, question_.words.parameters);
  }

  const PtxQuestion& question_;
  std::map<std::string, std::shared_ptr<const ptx::PtxModule>> modules_;  ///< by path
  std::string triton_path_;
};

/// The shipped machine that the text is for, where the question names none; nothing: there is none.
Result<std::optional<Machine>> machine_of(const PtxQuestion& question, const std::string& target) {
  if (target.empty() && question.machine.empty()) return std::optional<Machine>();
  if (!question.machine.empty()) {
    Result<Machine> machine = load_machine(question.machine);
    if (!machine) return machine.error();
    return std::optional(*std::move(machine));
  }
  for (const LibraryEntry& entry : list_library(Shelf::Machines))
    if (Result<Machine> machine = load_machine(entry.path); machine && machine->arch == target) return std::optional(*std::move(machine));
  return std::optional<Machine>();
}

class Asking {
 public:
  Asking(const PtxQuestion& question, std::stop_token stop, const std::function<void(const std::string&)>& doing)
      : question_(question), stop_(std::move(stop)), doing_(doing) {}

  Result<PtxAnswer> answer(std::vector<PtxLaunch> launches) {
    for (PtxLaunch& launch : launches) {
      if (stop_.stop_requested()) break;
      if (!launch.as.error.faults.empty()) {
        answer_.launches.push_back(std::move(launch.as));
        continue;
      }
      const bool for_sizes = question_.more_sizes && question_.picture == ptx::RunPicture::None;
      const Result<Ok> judged = judge(launch, for_sizes ? ptx::RunPicture::Shown : question_.picture);
      if (!judged) return judged.error();
      if (question_.more_sizes)
        if (const Result<Ok> more = judge_at_other_sizes(launch); !more) return more.error();
    }
    answer_.cancelled = stop_.stop_requested();
    return std::move(answer_);
  }

 private:
  /// Fails where the machine cannot be read.
  Result<Ok> judge(const PtxLaunch& launch, ptx::RunPicture picture) {
    if (doing_) doing_(launch.as.name);
    const std::string& target = launch.as.module->target;
    if (!machines_.contains(target)) {
      Result<std::optional<Machine>> machine = machine_of(question_, target);
      if (!machine) return machine.error();
      machines_[target] = *std::move(machine);
    }
    const std::optional<Machine>& machine = machines_[target];
    ptx::CheckOptions options;
    options.machine = machine ? &*machine : nullptr;
    options.limit = question_.limit, options.most_runs = question_.most_runs;
    options.branches = question_.branches;
    options.picture = picture;
    options.stop = stop_;
    ptx::CheckedLaunch& checked = answer_.launches.emplace_back(launch.as);
    Result<ptx::Checked> found = ptx::check(*launch.as.module, launch.as.text_path, launch.as.launch, options);
    if (!found) {
      checked.error = in_options(found.error());
      return Ok{};
    }
    checked.checked = *std::move(found);
    checked.checked->notes.insert(checked.checked->notes.end(), launch.warnings.begin(), launch.warnings.end());
    return Ok{};
  }

  Result<Ok> judge_at_other_sizes(const PtxLaunch& launch) {
    if (!answer_.launches.back().checked) return Ok{};
    const std::int64_t instructions = answer_.launches.back().checked->instructions;
    const ptx::SizesSeen seen = ptx::sizes_seen(launch.as.launch, answer_.launches.back().checked->maps, &answer_.said);
    if (seen.loop.empty()) answer_.said.push_back("say sizes yourself: --size");
    bool differs = false;
    const std::vector<ptx::SizedLaunch> proposed = ptx::proposed_sizes(launch.as.launch, seen, &answer_.said);
    for (const ptx::SizedLaunch& sized : proposed) {
      if (stop_.stop_requested()) return Ok{};
      PtxLaunch other = launch;
      other.as.name = fmt::format("{}, {}", launch.as.name, sized.why);
      other.as.launch = sized.launch;
      other.as.told.insert(other.as.told.end(), sized.told.begin(), sized.told.end());
      if (const Result<Ok> judged = judge(other, question_.picture); !judged) return judged;
      const std::optional<ptx::Checked>& checked = answer_.launches.back().checked;
      differs |= !checked || checked->instructions != instructions;
    }
    if (!proposed.empty() && !differs)
      answer_.said.push_back(launch.as.name + ": other sizes changed nothing that is executed; they may be constants of the text");
    return Ok{};
  }

  const PtxQuestion& question_;
  std::stop_token stop_;
  const std::function<void(const std::string&)>& doing_;
  std::map<std::string, std::optional<Machine>> machines_;  ///< by target
  PtxAnswer answer_;
};

}  // namespace

Result<std::vector<PtxLaunch>> launches_of(const PtxQuestion& question) {
  LaunchMaker maker(question);
  std::error_code code;
  if (const PtxPath path = split_kernel(question.path); path.file.ends_with(".ptx")) {
    Result<std::vector<PtxLaunch>> made = maker.of_text(path);
    return made ? std::move(made) : in_options(made.error());
  }
  if (!fs::is_directory(question.path, code)) {
    Result<PtxLaunch> made = maker.from_launch(question.path);
    if (!made) return in_options(made.error());
    return std::vector<PtxLaunch>{*std::move(made)};
  }
  std::vector<PtxLaunch> launches;
  for (const std::string& file : launch_files_of(question.path)) {
    Result<PtxLaunch> made = maker.from_launch(file);
    if (made)
      launches.push_back(*std::move(made));
    else
      launches.push_back(maker.unreadable(file, {}, made.error()));
  }
  if (launches.empty()) return Error::in_file(question.path, "has no launch files (heddle.launch/1) in it");
  return launches;
}

Result<PtxAnswer> ask_ptx(const PtxQuestion& question, std::stop_token stop, const std::function<void(const std::string&)>& doing) {
  Result<std::vector<PtxLaunch>> launches = launches_of(question);
  if (!launches) return launches.error();
  return Asking(question, std::move(stop), doing).answer(*std::move(launches));
}

Ended ended(const PtxAnswer& answer) {
  const auto any = [&](const auto& what) { return std::ranges::any_of(answer.launches, what); };
  const auto verdict = [&](ptx::CheckVerdict wanted) {
    return any([&](const ptx::CheckedLaunch& launch) { return launch.checked && launch.checked->verdict == wanted; });
  };
  if (verdict(ptx::CheckVerdict::NotInOrder)) return Ending::Negative;
  if (any([](const ptx::CheckedLaunch& launch) { return !launch.checked; })) return Ending::InvalidInput;
  if (verdict(ptx::CheckVerdict::Stopped) || answer.cancelled) return Ending::NoProof;
  return Ending::Done;
}

}  // namespace heddle::app
