// Each worker takes the next job, runs it as a child, and writes its result into the journal.
#include "app/batch/run_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "app/batch/claims.h"
#include "app/command/exit_code.h"

namespace heddle::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMostTries = 3;

bool counts_as_failed(JobStatus status) {
  return !is_final(status) || status == JobStatus::Failed || status == JobStatus::KernelFailed || status == JobStatus::BadLine;
}

/// Somebody else's kill says nothing about the job.
bool killed_from_outside(const ChildResult& child) {
  if (child.timed_out || child.cancelled) return false;
  return child.code == kInterrupted || child.signal == SIGKILL || child.signal == SIGTERM || child.signal == SIGINT ||
         child.signal == SIGHUP;
}

class Batch {
 public:
  Batch(const JobFile& file, const Shard& shard, const BatchOptions& options, const BatchListener& listener, Journal journal)
      : file_(file), options_(options), listener_(listener), journal_(std::move(journal)) {
    for (const Job& job : file.jobs)
      if (shard.holds(job)) mine_.push_back(&job);
    progress_.total = mine_.size();
  }

  /// Takes over what the journal has, and lines up the rest. `numbers`: of the lines in the file `journal`.
  Result<Ok> begin(const std::vector<Json>& lines, const std::vector<std::int64_t>& numbers, const std::string& journal) {
    std::set<std::pair<std::string, std::int64_t>> told;  // jobs that the journal has a line of under this batch
    std::map<std::string, std::size_t> last;              // of a job that was run again the later line counts
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (const Json* id = lines[i].find("id"); id && id->string()) last[*id->string()] = i;
    const std::vector<std::string> against = doubts(lines, numbers, last);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Json& line = lines[i];
      const Json* id = line.find("id");
      const bool latest = id && id->string() && last[*id->string()] == i;
      if (!against[i].empty()) {
        if (listener_.warning && latest)
          listener_.warning({fmt::format("{}:{}", journal, numbers[i]), {}, "set aside, its job is run again: " + against[i], {}});
        continue;
      }
      std::optional<JobResult> result = parse_result(line);
      if (!id || !id->string() || !result || (options_.retry && !is_final(result->status))) continue;
      if (latest) end_.results.insert_or_assign(*id->string(), *std::move(result));
      const Json *batch = line.find("batch"), *job = line.find("job");
      if (batch && batch->string() && *batch->string() == file_.batch && job && job->integer())
        told.emplace(*id->string(), *job->integer());
    }
    for (const Job* job : mine_) {
      if (!job->faults.empty()) {
        count(JobStatus::BadLine, true);
      } else if (const auto known = end_.results.find(job->id); known != end_.results.end()) {
        count(known->second.status, true);
        // Whoever reads the journal along finds every job of this batch in it.
        if (!told.count({job->id, static_cast<std::int64_t>(job->number)}))
          if (Result<Ok> written = journal_.append(journal_line(*job, known->second)); !written) return written;
      } else if (auto& twins = twins_[job->id]; twins.emplace_back(job), twins.size() == 1) {
        queue_.push_back(job);
      }
    }
    begin_ = Clock::now();
    tell();
    return Ok{};
  }

  Result<BatchEnd> run(std::stop_token stop) {
    {
      // Both the caller's stop and a journal that cannot be written end the running jobs.
      const std::stop_callback forward(stop, [this] { give_up_.request_stop(); });
      std::vector<std::jthread> workers;
      for (std::size_t i = 0; i < std::min(options_.at_once, queue_.size()); ++i) workers.emplace_back([this] { work(); });
    }
    if (failure_) return *failure_;
    end_.stopped = progress_.done < progress_.total;
    return std::move(end_);
  }

 private:
  /// Why each line is not to be believed; empty where nothing speaks against it. Lines of other jobs than these are not judged.
  std::vector<std::string> doubts(const std::vector<Json>& lines, const std::vector<std::int64_t>& numbers,
                                  const std::map<std::string, std::size_t>& last) const {
    std::map<std::string, const Job*> jobs;
    for (const Job* job : mine_) jobs.emplace(job->id, job);
    std::vector<Claim> claims;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Claim& claim = claims.emplace_back();
      const Json* id = lines[i].find("id");
      const auto job = id && id->string() ? jobs.find(*id->string()) : jobs.end();
      if (job == jobs.end()) continue;
      claim = claim_of(lines[i]);
      claim.where = fmt::format("line {}", numbers[i]);
      for (const JsonMember& member : *job->second->description.members())
        if (const Json* said = lines[i].find(member.key.c_str()); !said || said->line() != member.value.line())
          claim.against_itself = fmt::format("its id is that of a job with another \"{}\"", member.key);
      if (!claim.against_itself.empty() || last.at(job->first) != i) claim.question = 0;
    }
    return refutations(claims);
  }

  void work() {
    while (const Job* job = next()) {
      const auto result = attempt(*job);
      const std::lock_guard lock(mutex_);
      --progress_.running;
      if (result) keep(*job, *result);
      tell();
    }
  }

  const Job* next() {
    const std::lock_guard lock(mutex_);
    if (give_up_.stop_requested() || at_ == queue_.size()) return nullptr;
    ++progress_.running;
    tell();
    return queue_[at_++];
  }

  /// Nothing when it was stopped.
  std::optional<JobResult> attempt(const Job& job) {
    for (int tries = 1;; ++tries) {
      const auto begin = Clock::now();
      const bool limited = options_.limits.memory_bytes > 0;
      bool memory_ended = false;
      const Result<ChildResult> child = run_job_process(options_.program, job.words, options_.limits, give_up_.get_token(),
                                                        [&](std::string_view line) { memory_ended |= tells_of_memory(line, limited); });
      JobResult result;
      if (!child) {
        result.status = JobStatus::Unavailable;
        result.message = child.error().faults.front().message;
      } else {
        if (child->cancelled) return std::nullopt;
        if (killed_from_outside(*child)) {
          if (!wait(std::chrono::seconds(1))) return std::nullopt;
          if (tries < kMostTries) continue;
        }
        result = judge(job, *child, memory_ended);
      }
      result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      return result;
    }
  }

  /// Where everything is being killed, this process is next: it must not take its child's end for a result. False: stopped meanwhile.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(wait_mutex_);
    return !waiting_.wait_for(lock, give_up_.get_token(), time, [] { return false; }) && !give_up_.stop_requested();
  }

  Json journal_line(const Job& job, const JobResult& result) const {
    Json line = result_line(file_, job, &result);
    return line.set("seconds", static_cast<double>(static_cast<std::int64_t>(result.seconds * 1e3)) / 1e3).set("peak_kib", result.peak_kib);
  }

  void keep(const Job& job, const JobResult& result) {
    for (const Job* twin : twins_[job.id]) {
      if (failure_) return;
      if (const Result<Ok> written = journal_.append(journal_line(*twin, result)); !written) {
        failure_ = written.error();
        give_up_.request_stop();
        return;
      }
      count(result.status, false);
      if (listener_.finished) listener_.finished(*twin, result);
    }
    end_.results.emplace(job.id, result);
  }

  void count(JobStatus status, bool known) {
    ++progress_.done;
    progress_.known += known ? 1 : 0;
    progress_.failed += counts_as_failed(status) ? 1 : 0;
  }

  void tell() {
    const std::size_t now = progress_.done - progress_.known;
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (now > 0) progress_.seconds_left = elapsed / static_cast<double>(now) * static_cast<double>(progress_.total - progress_.done);
    if (listener_.progress) listener_.progress(progress_);
  }

  const JobFile& file_;
  const BatchOptions& options_;
  const BatchListener& listener_;
  std::vector<const Job*> mine_, queue_;  // of this shard; of those, what is to be run
  std::map<std::string, std::vector<const Job*>> twins_;
  std::stop_source give_up_;
  Clock::time_point begin_;
  std::mutex wait_mutex_;
  std::condition_variable_any waiting_;
  std::mutex mutex_;  // guards all below
  Journal journal_;
  std::size_t at_ = 0;
  BatchProgress progress_;
  BatchEnd end_;
  std::optional<Error> failure_;
};

}  // namespace

Result<Shard> parse_shard(const std::string& text) {
  Shard shard;
  const char* const stop = text.data() + text.size();
  const auto [slash, bad] = std::from_chars(text.data(), stop, shard.index);
  if (bad == std::errc() && slash != stop && *slash == '/') {
    const auto [end, worse] = std::from_chars(slash + 1, stop, shard.count);
    if (worse == std::errc() && end == stop && shard.index >= 1 && shard.index <= shard.count && shard.count <= kMostJobs) return shard;
  }
  return Error::input(fmt::format("a shard is I/N with 1 <= I <= N <= {}, 2/8 for example, not '{}'", kMostJobs, text));
}

Result<BatchEnd> run_jobs(const BatchWork& work, const BatchOptions& options, std::stop_token stop, const BatchListener& listener) {
  Result<Journal> open = Journal::open(work.journal);
  if (!open) return open.error();
  // Read with the lock held: no other process adds to it any more.
  std::vector<std::int64_t> numbers;
  const std::vector<Json> lines = read_journal(work.journal, &numbers);
  Batch batch(work.file, work.shard, options, listener, std::move(open).value());
  if (const Result<Ok> begun = batch.begin(lines, numbers, work.journal); !begun) return begun.error();
  return batch.run(std::move(stop));
}

std::string results_text(const JobFile& file, const Shard& shard, const JobResults& results) {
  std::string text;
  for (const Job& job : file.jobs) {
    if (!shard.holds(job)) continue;
    const auto result = results.find(job.id);
    HEDDLE_ASSERT(!job.faults.empty() || result != results.end(), "a job without a result");
    text += result_line(file, job, job.faults.empty() ? &result->second : nullptr).line() + "\n";
  }
  return text;
}

}  // namespace heddle::app
