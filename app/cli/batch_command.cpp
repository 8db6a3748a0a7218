// heddle batch: many jobs from a file, on this machine or as a Slurm array. heddle merge: the results of its parts as one.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "app/batch/merge.h"
#include "app/batch/run_jobs.h"
#include "app/batch/slurm.h"
#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "app/command/terminal.h"
#include "app/jobs/heddle_child.h"
#include "core/base/atomic_file.h"
#include "core/base/line_file.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

constexpr std::size_t kDefaultShards = 32;
constexpr std::size_t kMostFaultsShown = 20;

/// "jobs.jsonl" -> "jobs.results.jsonl", "jobs.results.2-of-8.jsonl".
std::string default_results(const std::string& jobs, const Shard& shard) {
  std::filesystem::path path(jobs);
  if (path.extension() == ".jsonl" || path.extension() == ".json") path.replace_extension();
  return path.string() + (shard.count > 1 ? fmt::format(".results.{}-of-{}.jsonl", shard.index, shard.count) : ".results.jsonl");
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

std::vector<std::string> progress_facts(const BatchProgress& p) {
  std::vector<std::string> facts{fmt::format("{} of {} done", p.done, p.total), fmt::format("{} running", p.running)};
  if (p.failed > 0) facts.push_back(fmt::format("{} failed", p.failed));
  if (p.seconds_left >= 0 && p.done < p.total) facts.push_back(duration_text(p.seconds_left) + " left");
  return facts;
}

/// Where no line can be redrawn, one is written now and then.
class BatchProgressReport {
 public:
  explicit BatchProgressReport(const Terminal& terminal) : terminal_(terminal), line_(terminal) {}

  void operator()(const BatchProgress& progress) {
    line_.show(progress_facts(progress));
    const auto now = std::chrono::steady_clock::now();
    if (terminal_.err_is_tty || now - last_ < std::chrono::seconds(10)) return;
    last_ = now;
    line_.announce(fmt::format("{}", fmt::join(progress_facts(progress), ", ")));
  }
  void finished(const Job& job, const JobResult& result) {
    line_.say(fmt::format("job {} (line {}, {}): {}{} in {:.2f} s", job.number, job.line, job.command, to_string(result.status),
                          result.message.empty() ? "" : ", " + result.message, result.seconds));
  }

 private:
  const Terminal& terminal_;
  ProgressLine line_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::string summary_of(const JobFile& file, const Shard& shard, const JobResults& results) {
  std::map<JobStatus, std::size_t> counts;
  std::size_t jobs = 0;
  for (const Job& job : file.jobs) {
    if (!shard.holds(job)) continue;
    ++jobs;
    ++counts[job.faults.empty() ? results.at(job.id).status : JobStatus::BadLine];
  }
  std::string text = count_of(jobs, "job");
  const char* glue = ": ";
  for (const auto& [status, count] : counts) {
    text += fmt::format("{}{} {}", glue, count, to_string(status));
    glue = ", ";
  }
  return text;
}

void print_faults(const Terminal& terminal, const std::vector<Fault>& faults) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (i == kMostFaultsShown && !terminal.verbose) {
      terminal.complain(fmt::format("{} more (--verbose lists all)", faults.size() - i));
      return;
    }
    terminal.complain(to_string(faults[i]));
  }
}

/// What of the batch's options a shard on another node needs too.
std::vector<std::string> passed_on(const Arguments& arguments) {
  std::vector<std::string> words;
  for (const char* flag : {"--limit", "--memory"})
    if (const auto value = arguments.text(flag)) words.push_back(fmt::format("{}={}", flag, *value));
  for (const char* flag : {"--retry", "--no-store"})
    if (arguments.has(flag)) words.emplace_back(flag);
  return words;
}

/// The shard's results are there, and of this batch.
bool shard_is_done(const std::string& path, const JobFile& file) {
  Result<LineFile> lines = LineFile::open(path);
  const auto line = lines ? lines->next() : Result<std::optional<LineFile::Line>>(lines.error());
  if (!line || !*line) return false;
  const Result<Json> first = parse_json((*line)->text, path);
  const Json* batch = first ? first->find("batch") : nullptr;
  return batch && batch->string() && *batch->string() == file.batch;
}

int merge_files(const std::vector<std::string>& files, const std::string& out, bool partial, const Terminal& terminal) {
  Merger merger;
  Error unread;
  std::size_t read = 0;
  for (const std::string& name : files) {
    Result<LineFile> file = LineFile::open(name);
    // A shard that never ended is missing jobs, which are named below.
    if (!file) {
      unread.faults.insert(unread.faults.end(), file.error().faults.begin(), file.error().faults.end());
      continue;
    }
    ++read;
    for (;;) {
      const auto line = file->next();
      if (!line) return report(terminal, line.error(), false);
      if (!*line || !merger.take(fmt::format("{}:{}", name, (*line)->number), (*line)->text, (*line)->whole)) break;
    }
  }
  print_faults(terminal, unread.faults);
  if (read == 0) return kInvalidInput;
  const Result<Merged> merged = merger.end();
  if (!merged) {
    print_faults(terminal, merged.error().faults);
    return kInvalidInput;
  }
  print_faults(terminal, merged->contradictions);
  print_faults(terminal, merged->set_aside);
  print_faults(terminal, merged->missing);
  if (!terminal.quiet) print_faults(terminal, merged->repeated);
  const bool write = merged->contradictions.empty() && (partial || merged->missing.empty());
  if (write) {
    if (const int failed = write_text(terminal, out, merged->text)) return failed;
    terminal.note(fmt::format("{} of {} jobs{}", merged->jobs, merged->of, out == "-" ? "" : " in " + out));
  } else {
    terminal.note(merged->contradictions.empty() ? "nothing is written (--partial writes what there is)" : "nothing is written");
  }
  return merged->complete() ? kDone : kNegative;
}

int submit(const JobFile& file, const SlurmOptions& options, bool dry_run, const Terminal& terminal) {
  namespace fs = std::filesystem;
  const std::string folder = shards_folder(options.results), record = folder + "/submitted";
  std::vector<std::size_t> wanted;
  for (std::size_t i = 1; i <= options.shards; ++i)
    if (!shard_is_done(shard_results(options, i), file)) wanted.push_back(i);
  if (wanted.empty() && !dry_run) {
    std::vector<std::string> files;
    for (std::size_t i = 1; i <= options.shards; ++i) files.push_back(shard_results(options, i));
    return merge_files(files, options.results, false, terminal);
  }
  if (wanted.empty()) wanted.push_back(1);
  const SlurmPlan plan = plan_slurm(options, wanted);
  if (dry_run) {
    terminal.out << plan_text(plan);
    return kDone;
  }
  if (const Result<std::string> before = read_file(record)) {
    const std::string job = before->substr(0, before->find_first_not_of("0123456789"));
    if (!job.empty() && slurm_knows(job)) {
      terminal.note(fmt::format("job {} of Slurm is still to merge these results; nothing is submitted", job));
      return kDone;
    }
  }
  std::error_code ignored;
  fs::create_directory(folder, ignored);
  for (const auto& [path, text] : {std::pair{plan.array_path, plan.array_script}, {plan.merge_path, plan.merge_script}})
    if (const int failed = write_text(terminal, path, text)) return failed;
  const Result<std::string> array = sbatch(plan.array_words);
  if (!array) return report(terminal, array.error(), false);
  const Result<std::string> merge = sbatch(plan.merge_words(*array));
  if (!merge) return report(terminal, merge.error(), false);
  (void)write_file(record, *merge + "\n").ok();  // forgetting it costs a second submission, which finds its shards locked or done
  terminal.note(fmt::format("{} of {} shards submitted as job {}, merging as job {}; results in {}", wanted.size(), options.shards, *array,
                            *merge, options.results));
  return kDone;
}

/// What contradicts itself in a command line; empty when nothing does.
std::string contradiction_in(const Arguments& arguments) {
  if (arguments.has("--slurm") && arguments.has("--shard")) return "--slurm makes the shards itself; leave out --shard";
  if (arguments.has("--slurm") && arguments.text("--out") == "-") return "the jobs of Slurm write to a file; give --out one";
  if (arguments.has("--slurm") && arguments.has("--fresh"))
    return "--fresh is about results of this machine; delete the folder NAME.shards";
  for (const char* flag : {"--shards", "--partition", "--time", "--mem", "--sbatch", "--dry-run"})
    if (arguments.has(flag) && !arguments.has("--slurm")) return fmt::format("{} is about --slurm", flag);
  for (const std::string& word : arguments.all("--sbatch"))
    if (!word.starts_with("-"))
      return fmt::format("--sbatch needs an option of sbatch, --sbatch=--account=mine for example, not '{}'", word);
  return {};
}

}  // namespace

int run_batch(const Arguments& arguments, const Terminal& terminal) {
  if (const std::string why = contradiction_in(arguments); !why.empty()) return refuse(terminal, why, false);
  const std::string path = *arguments.text("JOBS");
  Shard shard;
  if (const auto text = arguments.text("--shard")) {
    const Result<Shard> parsed = parse_shard(*text);
    if (!parsed) return refuse(terminal, parsed.error().faults.front().message, false);
    shard = *parsed;
  }
  const Result<JobFile> file = read_jobs(path);
  if (!file) return report(terminal, file.error(), false);
  const std::vector<Fault> faults = file->faults();
  print_faults(terminal, faults);
  if (!faults.empty() && arguments.has("--strict")) {
    terminal.complain("nothing is run, because of --strict");
    return kInvalidInput;
  }
  if (file->jobs.empty()) terminal.note(path + " has no jobs");

  const std::string out = arguments.text("--out").value_or(default_results(path, shard));
  if (const int failed = expect_writable(terminal, out, false)) return failed;
  BatchOptions options;
  options.program = heddle_beside();
  if (options.program.empty()) return report(terminal, Error::environment("the program heddle is not beside this one"), false);
  options.at_once = static_cast<std::size_t>(arguments.integer("--jobs").value_or(std::max(1u, std::thread::hardware_concurrency())));
  options.limits.seconds = arguments.seconds("--limit").value_or(0);
  options.limits.memory_bytes = static_cast<std::uint64_t>(arguments.integer("--memory").value_or(0)) << 20;
  options.retry = arguments.has("--retry");

  if (arguments.has("--slurm")) {
    if (file->jobs.empty()) return kDone;
    SlurmOptions slurm;
    std::error_code ignored;
    slurm.program = options.program;
    slurm.folder = std::filesystem::current_path(ignored).string();
    slurm.jobs = path;
    slurm.results = out;
    slurm.shards = std::min(file->jobs.size(), static_cast<std::size_t>(arguments.integer("--shards").value_or(kDefaultShards)));
    slurm.at_once = static_cast<std::size_t>(arguments.integer("--jobs").value_or(1));
    slurm.batch_words = passed_on(arguments);
    slurm.partition = arguments.text("--partition").value_or("");
    slurm.time = arguments.text("--time").value_or("");
    slurm.memory = arguments.text("--mem").value_or("");
    slurm.more = arguments.all("--sbatch");
    return submit(*file, slurm, arguments.has("--dry-run"), terminal);
  }

  if (arguments.has("--no-store")) ::setenv("HEDDLE_STORE", "off", 1);
  const std::string journal = (out == "-" ? default_results(path, shard) : out) + ".journal";
  if (arguments.has("--fresh")) {
    Result<Journal> old = Journal::open(journal);
    const Result<Ok> cleared = old ? old->clear() : Result<Ok>(old.error());
    if (!cleared) return report(terminal, cleared.error(), false);
  }
  const InterruptScope interrupt;
  Result<BatchEnd> end = BatchEnd{};
  BatchProgress last;
  {
    BatchProgressReport report(terminal);
    end = run_jobs({*file, shard, journal}, options, interrupt.token(),
                   {[&](const BatchProgress& progress) { report(last = progress); },
                    [&](const Job& job, const JobResult& result) { report.finished(job, result); },
                    [&](const Fault& fault) { terminal.complain(to_string(fault)); }});
  }
  if (!end) {
    const int code = report(terminal, end.error(), false);
    terminal.note(fmt::format("{} of {} jobs are finished and kept; the same command goes on from there", last.done, last.total));
    return code;
  }
  if (end->stopped) {
    terminal.note(fmt::format("stopped: {} of {} jobs are finished and kept; the same command goes on from there", last.done, last.total));
    return kInterrupted;
  }
  if (const int failed = write_text(terminal, out, results_text(*file, shard, end->results))) return failed;
  const std::string known = last.known > 0 && last.known != faults.size() ? " (those finished before were not repeated)" : "";
  terminal.note(summary_of(*file, shard, end->results) + known + (out == "-" ? "" : "; results in " + out));
  return faults.empty() ? kDone : kInvalidInput;
}

int run_merge(const Arguments& arguments, const Terminal& terminal) {
  const std::string out = arguments.text("--out").value_or("-");
  if (const int failed = expect_writable(terminal, out, false)) return failed;
  return merge_files(arguments.all("FILES"), out, arguments.has("--partial"), terminal);
}

}  // namespace heddle::app
