#include "app/batch/slurm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "app/command/arguments.h"
#include "app/jobs/child_process.h"
#include "core/base/atomic_file.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

/// Slurm replaces %a and the like in file names.
std::string slurm_file(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

/// "1-4,7"
std::string array_of(const std::vector<std::size_t>& wanted) {
  std::string text;
  for (std::size_t i = 0; i < wanted.size();) {
    std::size_t j = i;
    while (j + 1 < wanted.size() && wanted[j + 1] == wanted[j] + 1) ++j;
    text += text.empty() ? "" : ",";
    text += i == j ? fmt::format("{}", wanted[i]) : fmt::format("{}-{}", wanted[i], wanted[j]);
    i = j + 1;
  }
  return text;
}

std::string find_on_path(const char* name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = fmt::format("{}/{}", rest.substr(0, end), name);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate)) return candidate;
  }
  return {};
}

/// A here-document whose end no line of the text can be taken for.
std::string here_document(const std::string& path, const std::string& text) {
  std::string end = "END";
  while (text.find(end) != std::string::npos) end += "_";
  return fmt::format("cat > {} <<'{}'\n{}{}\n", shell_word(path), end, text, end);
}

}  // namespace

std::string shards_folder(const std::string& results) { return results + ".shards"; }

std::string shard_results(const SlurmOptions& options, std::size_t index) {
  return fmt::format("{}/{}-of-{}.jsonl", shards_folder(options.results), index, options.shards);
}

std::vector<std::string> SlurmPlan::merge_words(const std::string& array_job) const {
  std::vector<std::string> words = merge_options;
  words.insert(words.begin(), fmt::format("--dependency=afterany:{}", array_job));
  words.push_back(merge_path);
  return words;
}

SlurmPlan plan_slurm(const SlurmOptions& options, const std::vector<std::size_t>& wanted) {
  SlurmPlan plan;
  const std::string folder = shards_folder(options.results);
  plan.array_path = folder + "/array.sh";
  plan.merge_path = folder + "/merge.sh";

  // Slurm sends SIGTERM before it takes a node away; the shard's journal has every job that was finished by then.
  std::vector<std::string> batch{options.program, "batch", "--quiet"};
  batch.insert(batch.end(), options.batch_words.begin(), options.batch_words.end());
  batch.push_back(fmt::format("--jobs={}", options.at_once));
  plan.array_script = fmt::format(
      "#!/bin/sh\n# One shard of a batch. Started again it goes on where it was ended.\nset -u\n"
      "exec {} --shard=\"$SLURM_ARRAY_TASK_ID/{}\" --out={}\"$SLURM_ARRAY_TASK_ID\"{} -- {}\n",
      shell_words(batch), options.shards, shell_word(folder + "/"), shell_word(fmt::format("-of-{}.jsonl", options.shards)),
      shell_word(options.jobs));

  std::vector<std::string> merge{options.program, "merge", "--out=" + options.results, "--"};
  for (std::size_t i = 1; i <= options.shards; ++i) merge.push_back(shard_results(options, i));
  plan.merge_script =
      fmt::format("#!/bin/sh\n# Puts the shards' results together, or says what is missing.\nexec {}\n", shell_words(merge));

  std::vector<std::string> common{"--parsable", "--chdir=" + options.folder};
  if (!options.partition.empty()) common.push_back("--partition=" + options.partition);
  plan.array_words = common;
  plan.merge_options = common;
  // A shard that is run again adds to its output instead of hiding what the first run said.
  plan.array_words.insert(plan.array_words.end(),
                          {"--job-name=heddle-batch", "--requeue", "--open-mode=append", "--array=" + array_of(wanted),
                           fmt::format("--cpus-per-task={}", options.at_once), "--output=" + slurm_file(folder) + "/%a.log"});
  plan.merge_options.insert(plan.merge_options.end(),
                            {"--job-name=heddle-merge", "--requeue", "--output=" + slurm_file(folder) + "/merge.log"});
  if (!options.time.empty()) plan.array_words.push_back("--time=" + options.time);
  if (!options.memory.empty()) plan.array_words.push_back("--mem=" + options.memory);
  plan.array_words.insert(plan.array_words.end(), options.more.begin(), options.more.end());
  plan.merge_options.insert(plan.merge_options.end(), options.more.begin(), options.more.end());
  plan.array_words.push_back(plan.array_path);
  return plan;
}

std::string plan_text(const SlurmPlan& plan) {
  std::vector<std::string> array = plan.array_words, merge = plan.merge_options;
  array.insert(array.begin(), "sbatch");
  merge.push_back(plan.merge_path);
  return fmt::format("#!/bin/sh\nset -eu\nmkdir -p {}\n{}{}array=$({})\nsbatch --dependency=afterany:\"${{array%%;*}}\" {}\n",
                     shell_word(std::filesystem::path(plan.array_path).parent_path().string()),
                     here_document(plan.array_path, plan.array_script), here_document(plan.merge_path, plan.merge_script),
                     shell_words(array), shell_words(merge));
}

Result<std::string> sbatch(const std::vector<std::string>& words) {
  std::vector<std::string> line{find_on_path("sbatch")};
  if (line.front().empty())
    return Error::environment("there is no sbatch on this machine", "--dry-run prints the scripts; --shard I/N serves any other engine");
  line.insert(line.end(), words.begin(), words.end());
  std::string said;
  const Result<ChildResult> child =
      run_child(std::move(line), {}, [&](std::string_view text) { said.append(said.empty() ? "" : "; ").append(text); });
  if (!child) return child.error();
  // --parsable prints the number, and after a semicolon the cluster.
  const std::string number = child->out.substr(0, child->out.find_first_of(";\n"));
  const bool good = child->code == 0 && !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  if (good) return number;
  return Error::environment(fmt::format("sbatch refuses: {}", said.empty() ? "it says nothing" : printable(said)));
}

bool slurm_knows(const std::string& job) {
  const std::string program = find_on_path("squeue");
  if (program.empty()) return false;
  const Result<ChildResult> child = run_child({program, "--noheader", "--format=%i", "--jobs=" + job}, {}, {});
  return child.ok() && child->code == 0 && child->out.find_first_of("0123456789") != std::string::npos;
}

}  // namespace heddle::app
