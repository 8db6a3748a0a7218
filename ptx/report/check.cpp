// The launch is run once as it is; then, as far as `most_runs` allows, once more for each branch on unknown data that guards a barrier, a
// copy or a product, with that branch the other way. Findings of all runs are put together.
#include "ptx/report/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ptx/report/map_uses.h"
#include "ptx/report/spell.h"
#include "ptx/run/cluster.h"
#include "ptx/text/parse.h"
#include "ptx/text/protocol.h"

namespace heddle::ptx {
namespace {

/// The launch with what the text says where the launch says nothing; faults where the two contradict each other.
Result<Launch> fitted(const Launch& given, const PtxFunction& function, const std::string& file) {
  Launch launch = given;
  Error error;
  const auto fault = [&](std::string message, std::string hint = {}) {
    error.faults.push_back({file, "", std::move(message), std::move(hint), {}});
  };
  if (launch.block[0] == 0) {
    if (function.threads[0] == 0)
      fault("says nothing of its threads (.reqntid, .maxntid)", "the launch must say how many threads a block has");
    for (std::size_t i = 0; i < 3; ++i) launch.block[i] = std::max(function.threads[i], 1u);
  }
  const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  if (threads == 0 || threads > 1024) fault(fmt::format("a block of {} threads; 1 to 1024 are possible", threads));
  std::uint64_t declared = function.threads[0] == 0 ? 0 : 1;
  for (const std::uint32_t along : function.threads) declared *= std::max(along, 1u);
  if (declared != 0 && (function.threads_required ? threads != declared : threads > declared))
    fault(fmt::format("a block of {} threads; the text says {} {}", threads, function.threads_required ? "exactly" : "at most", declared));
  const bool no_cluster = launch.cluster == std::array<std::uint32_t, 3>{1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    if (no_cluster && function.cluster[0] != 0) launch.cluster[i] = std::max(function.cluster[i], 1u);
    if (launch.grid[i] == 0 || launch.cluster[i] == 0) fault("a grid or cluster without CTAs");
  }
  if (std::uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2] > 16) fault("a cluster of more than 16 CTAs");
  if (launch.parameters.size() < function.parameter_bytes)
    fault(fmt::format("kernel {} takes {} bytes of parameters, the launch gives {}", function.name, function.parameter_bytes,
                      launch.parameters.size()));
  if (!error.faults.empty()) return error;
  return launch;
}

/// "sm_90", "sm_100a" (PTX ISA 11.1.2). A text that says none is run without costs.
bool is_target(std::string_view word) {
  if (word.empty()) return true;
  if (!word.starts_with("sm_")) return false;
  word.remove_prefix(3);
  if (word.ends_with('a') || word.ends_with('f')) word.remove_suffix(1);
  return word.size() >= 2 && word.size() <= 3 && word.find_first_not_of("0123456789") == std::string_view::npos;
}

Error wrong_target(const PtxModule& module, const std::string& file) {
  if (is_target(module.target)) return {};
  const std::size_t at = std::min(module.text->find(".target"), module.text->size());
  const auto line = 1 + std::count(module.text->begin(), module.text->begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return Error::in_file(file, fmt::format("line {}: '{}' is no target", line, module.target), "sm_90a, sm_100a and so on");
}

/// Lines that were said to go some way, where nothing of the text can go two ways.
Error wrong_branches(const PtxModule& module, const std::string& file, const CheckOptions& options) {
  Error error;
  for (const auto& [line, choice] : options.branches) {
    const PtxInstruction* nearest = nullptr;
    for (const PtxFunction& function : module.functions)
      for (const PtxInstruction& at : function.code)
        if (at.guard.valid() && (!nearest || std::abs(at.line - line) < std::abs(nearest->line - line))) nearest = &at;
    if (nearest && nearest->line == line) continue;
    error.faults.push_back({file,
                            {},
                            fmt::format("no branch stands at line {}", line),
                            nearest ? fmt::format("the nearest instruction with a predicate stands at line {}", nearest->line) : "",
                            "launch branch"});
  }
  return error;
}

class Checking {
 public:
  Checking(const PtxModule& module, const PtxFunction& function, const Launch& launch, const CheckOptions& options)
      : module_(module), function_(function), launch_(launch), options_(options), costs_(costs_of(options.machine)) {}

  Checked checked() {
    Checked checked;
    checked.kernel = function_.name;
    checked.target = module_.target;
    if (!costs_.known)
      checked.notes.push_back(module_.target.empty() ? "no costs: the text says no .target"
                                                     : fmt::format("no costs: no machine file for {}", module_.target));
    const std::unique_ptr<ClusterRun> first = run({});
    const RunNames names(record_of(*first));
    executed_ = first->executed;
    tell(*first, names, checked);
    checked.instructions = first->instructions();
    if (costs_.known) checked.cycles = first->now() / 1000;
    explore(*first, checked);
    not_seen(checked);
    std::stable_sort(checked.findings.begin(), checked.findings.end(),
                     [](const SaidFinding& a, const SaidFinding& b) { return a.rank < b.rank; });
    const bool wrong = !checked.findings.empty() && checked.findings[0].rank == Rank::Wrong;
    checked.verdict = wrong ? CheckVerdict::NotInOrder : checked.stopped.empty() ? CheckVerdict::InOrder : CheckVerdict::Stopped;
    if (options_.picture != RunPicture::None) draw(*first, names, checked);
    return checked;
  }

 private:
  void draw(const ClusterRun& run, const RunNames& names, Checked& checked) const {
    if (names.record.left_out > 0)
      checked.notes.push_back(
          fmt::format("shown: the first {} events; {} behind them are left out", run.trace.size(), names.record.left_out));
    checked.shown = shown_run(names, costs_.known);
    checked.maps = map_uses(names);
    if (options_.picture != RunPicture::Lanes) return;
    checked.timeline = timeline_of(names, options_.stop);
    std::vector<HungWait> waits;
    for (const CheckFinding& finding : run.findings.all())
      if (finding.rule == CheckRule::Hang && waits.empty())
        for (const RelatedPlace& place : finding.related) waits.push_back({place.warp, place.pc, spelled(place.what, names)});
    if (!waits.empty()) add_hang(*checked.timeline, names.record, waits);
  }

  std::unique_ptr<ClusterRun> run(const std::map<int, bool>& choices) {
    ClusterOptions how;
    how.limit = options_.limit;
    how.stop = options_.stop;
    how.tries = !choices.empty();
    how.branch = [this, choices](int pc) -> std::optional<bool> {
      if (const auto at = choices.find(pc); at != choices.end()) return at->second;
      const auto said = options_.branches.find(function_.code[static_cast<std::size_t>(pc)].line);
      if (said == options_.branches.end() || said->second == BranchChoice::Both) return std::nullopt;
      return said->second == BranchChoice::Taken;
    };
    auto run = std::make_unique<ClusterRun>(module_, function_, launch_, costs_, std::move(how));
    run->run();
    return run;
  }

  bool asked_both(int pc) const {
    const auto said = options_.branches.find(function_.code[static_cast<std::size_t>(pc)].line);
    return said != options_.branches.end() && said->second == BranchChoice::Both;
  }

  /// Branches on data: the table, and a run the other way for those that guard something.
  void explore(const ClusterRun& first, Checked& checked) {
    const PtxRecord record = record_of(first);
    std::vector<int> other_way;
    for (const DataBranch& branch : first.data_branches) {
      SaidBranch said;
      said.line = function_.code[static_cast<std::size_t>(branch.pc)].line;
      said.source = source_of(record, branch.pc);
      if (branch.origin >= 0) {
        const PtxInstruction& origin = function_.code[static_cast<std::size_t>(branch.origin)];
        said.hangs_on = fmt::format("{} at line {}", origin.mnemonic, origin.line);
      }
      said.times = branch.times;
      said.taken = branch.taken;
      said.guards = guards_something(function_, branch.pc);
      const bool chosen = options_.branches.contains(said.line) && !asked_both(branch.pc);
      const int way = branch.taken == 0 ? function_.code[static_cast<std::size_t>(branch.pc)].targets.front() : branch.pc + 1;
      const bool traps =
          way < static_cast<int>(function_.code.size()) && function_.code[static_cast<std::size_t>(way)].opcode == Opcode::Trap;
      if (((said.guards && !traps) || asked_both(branch.pc)) && !chosen) other_way.push_back(branch.pc);
      checked.branches.push_back(std::move(said));
    }
    for (const auto& [line, choice] : options_.branches)
      if (std::ranges::find(checked.branches, line, &SaidBranch::line) == checked.branches.end())
        checked.notes.push_back(
            fmt::format("the branch at line {} hung on nothing unknown, or was not reached: it went its own way", line));
    for (const int pc : other_way) {
      if (options_.stop.stop_requested()) return;
      if (checked.runs >= options_.most_runs) {
        checked.notes.push_back(fmt::format("branches on data: {} of {} were tried the other way", checked.runs - 1, other_way.size()));
        return;
      }
      const auto taken =
          std::find_if(first.data_branches.begin(), first.data_branches.end(), [&](const DataBranch& branch) { return branch.pc == pc; });
      const std::unique_ptr<ClusterRun> other = run({{pc, taken->taken == 0}});
      ++checked.runs;
      for (std::size_t i = 0; i < executed_.size(); ++i) executed_[i] += other->executed[i];
      tell(*other, RunNames(record_of(*other)), checked);
    }
  }

  PtxRecord record_of(const ClusterRun& run) const {
    return {&module_, &function_, &launch_, &run.trace, run.warps_per_cta(), run.cluster_size(), run.events_left_out};
  }

  void tell(const ClusterRun& run, const RunNames& names, Checked& checked) {
    const PtxRecord& record = names.record;
    for (const CheckFinding& finding : run.findings.all()) {
      if (!said_.insert({static_cast<int>(finding.rule), finding.pc, finding.sentence}).second) continue;
      const RuleRow& row = row_of(finding.rule);
      SaidFinding said;
      said.rank = row.rank;
      said.rule = row.key;
      said.section = row.section;
      said.sentence = spelled(finding.sentence, names);
      if (finding.pc >= 0) said.line = function_.code[static_cast<std::size_t>(finding.pc)].line;
      said.source = source_of(record, finding.pc);
      said.role = role_of_warp(names.roles(), record, finding.warp);
      for (const RelatedPlace& place : finding.related) {
        const int line = place.pc >= 0 ? function_.code[static_cast<std::size_t>(place.pc)].line : 0;
        said.related.push_back(
            {spelled(place.what, names), line, source_of(record, place.pc), role_of_warp(names.roles(), record, place.warp)});
      }
      said.times = finding.times;
      said.cycle = finding.cycle;
      checked.findings.push_back(std::move(said));
    }
    if (run.stopped() && checked.stopped.empty()) {
      checked.stopped = spelled(run.stop_reason(), names);
      if (run.stop_pc() >= 0) checked.stopped_line = function_.code[static_cast<std::size_t>(run.stop_pc())].line;
    }
  }

  void not_seen(Checked& checked) const {
    const PtxRecord record{&module_, &function_, &launch_, nullptr, 0, 1};
    for (std::size_t pc = 0; pc < function_.code.size(); ++pc) {
      if (executed_[pc] != 0) continue;
      const char* part = part_in_protocol(function_.code[pc].opcode);
      if (*part != '\0') checked.not_seen.push_back({function_.code[pc].line, source_of(record, static_cast<int>(pc)), part});
    }
  }

  const PtxModule& module_;
  const PtxFunction& function_;
  const Launch& launch_;
  const CheckOptions& options_;
  const Costs costs_;
  std::vector<std::uint32_t> executed_;
  std::set<std::tuple<int, int, std::string>> said_;
};

}  // namespace

Result<const PtxFunction*> find_entry(const PtxModule& module, const std::string& file, const std::string& name) {
  const PtxFunction* found = nullptr;
  std::size_t count = 0;
  std::string entries;
  for (const PtxFunction& function : module.functions) {
    if (!function.entry) continue;
    ++count;
    entries += (entries.empty() ? "" : ", ") + std::string(function.name);
    if (name.empty() || name == function.name) found = &function;
  }
  if (count == 0) return Error::in_file(file, "has no kernel (.entry)");
  if (name.empty() && count > 1)
    return Error{ErrorKind::Input, {{file, "", "has several kernels, and the launch names none", "it has " + entries, "launch kernel"}}};
  if (found == nullptr) return Error::in_file(file, "has no kernel \"" + name + "\"", "it has " + entries);
  return found;
}

Result<Checked> check(const PtxModule& module, const std::string& file, const Launch& launch, const CheckOptions& options) {
  const Result<const PtxFunction*> function = find_entry(module, file, launch.kernel);
  if (!function) return function.error();
  if (Error error = wrong_target(module, file); !error.faults.empty()) return error;
  if (Error error = wrong_branches(module, file, options); !error.faults.empty()) return error;
  const Result<Launch> whole = fitted(launch, **function, file);
  if (!whole) return whole.error();
  return Checking(module, **function, *whole, options).checked();
}

Result<Checked> check(std::string text, const std::string& file, const Launch& launch, const CheckOptions& options) {
  const Result<PtxModule> module = parse(std::move(text), file);
  if (!module) return module.error();
  return check(*module, file, launch, options);
}

}  // namespace heddle::ptx
