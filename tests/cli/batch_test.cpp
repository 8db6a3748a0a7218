// heddle batch, merge and store as programs: results, limits, kills, full disks, shards.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "app/batch/journal.h"
#include "app/command/exit_code.h"
#include "app/jobs/heddle_child.h"
#include "app/jobs/run_job.h"
#include "core/base/hash.h"
#include "tests/app/cli_support.h"
#include "tests/support/wait.h"

using namespace heddle::app;
using heddle::test::CliRun;
using heddle::test::contains;
using heddle::test::read_text;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using heddle::test::wait_until;
using nlohmann::json;

namespace {

const char* const kToySolves =
    R"({"do": "solve", "kernel": "toy_fig1", "machine": "toy", "each": {"options": {"max-stages": [1, 2, 3], "seed": [0, 1, 2, 3]}}})"
    "\n"
    R"({"do": "analyze", "kernel": "toy_fig1", "machine": "toy"})"
    "\n";

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

std::vector<std::string> statuses(const std::string& path) {
  std::vector<std::string> words;
  for (const json& line : lines_of(read_text(path))) words.push_back(line["status"]);
  return words;
}

/// heddle as a process of its own, standard error into a file.
class Process {
 public:
  Process(std::vector<std::string> words, const std::string& error_file) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, error_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    REQUIRE(::posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, arguments.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Process() {
    if (pid_ > 0) end(SIGKILL);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  pid_t pid() const { return pid_; }
  /// Exit code, or minus the signal.
  int end(int signal = 0) {
    if (signal != 0) ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
};

std::string heddle_program() { return built_in_run_tools().program; }

/// Living processes whose command line contains a word.
int processes_with(const std::string& word) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string line = read_text((entry.path() / "cmdline").string());
    const std::string stat = read_text((entry.path() / "stat").string());
    if (line.find(word) != std::string::npos && stat.find(") Z ") == std::string::npos) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a batch writes a line per job, in order, with a status word", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write("jobs.jsonl", R"({"do": "solve", "kernel": "toy_fig1", "machine": "toy"})"
                                                       "\n"
                                                       R"({"do": "solve", "kernel": "toy_fig1", "machine": "toy", "options": {"ii": 1}})"
                                                       "\n"
                                                       R"({"do": "solv", "kernel": "toy_fig1", "machine": "toy"})"
                                                       "\n"
                                                       R"({"do": "analyze", "kernel": "toy_fig1", "machine": "nowhere"})"
                                                       "\n"
                                                       R"({"do": "emit", "kernel": "toy_fig1", "machine": "toy"})"
                                                       "\n"
                                                       R"({"do": "show", "kernel": "toy_fig1", "machine": "toy", "options": {"width": 60}})"
                                                       "\n"
                                                       R"({"do": "solve", "kernel": "toy_fig1", "machine": "toy", "options": {"ii": 5}})"
                                                       "\n");
  const CliRun run = run_heddle({"batch", jobs, "--jobs", "2"});
  INFO(run.err);
  CHECK(run.code == kInvalidInput);  // line 3
  CHECK(contains(run.err, "jobs.jsonl:3: /do: no job does 'solv'"));
  const std::string results = scratch.path("jobs.results.jsonl");
  CHECK(contains(run.err, "results in " + results));
  const auto lines = lines_of(read_text(results));
  REQUIRE(lines.size() == 7);
  CHECK(statuses(results) ==
        std::vector<std::string>{"proved", "infeasible", "bad line", "failed", lines[4]["status"], "done", "feasible"});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(lines[i]["job"] == i + 1);
    CHECK(lines[i]["of"] == 7);
    CHECK(lines[i]["line"] == i + 1);
    CHECK(lines[i]["batch"] == lines[0]["batch"]);
  }
  CHECK(lines[0]["result"]["ii"] == 2);
  CHECK_FALSE(lines[0]["result"].contains("seconds"));
  CHECK(lines[1]["options"]["ii"] == 1);
  CHECK(lines[2]["faults"][0]["pointer"] == "/do");
  CHECK(contains(lines[3]["result"]["faults"][0]["message"], "nowhere"));
  CHECK(lines[4].contains("message"));
  CHECK(contains(lines[5]["result"]["text"], "TC"));

  const CliRun strict = run_heddle({"batch", jobs, "--strict", "--out", scratch.path("strict.jsonl")});
  CHECK(strict.code == kInvalidInput);
  CHECK(contains(strict.err, "nothing is run"));
  CHECK_FALSE(std::filesystem::exists(scratch.path("strict.jsonl")));
  CHECK_FALSE(std::filesystem::exists(scratch.path("strict.jsonl.journal")));
}

TEST_CASE("one job at a time or four: the same bytes; and again: nothing is repeated", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write("jobs.jsonl", kToySolves), one = scratch.path("1.jsonl"), four = scratch.path("4.jsonl");
  REQUIRE(run_heddle({"batch", jobs, "--jobs", "1", "--out", one}).code == kDone);
  REQUIRE(run_heddle({"batch", jobs, "--jobs", "4", "--out", four}).code == kDone);
  const std::string text = read_text(one);
  CHECK(text == read_text(four));
  CHECK(lines_of(text).size() == 13);

  const std::string journal = read_text(one + ".journal");
  const CliRun again = run_heddle({"batch", jobs, "--out", one});
  CHECK(again.code == kDone);
  CHECK(contains(again.err, "were not repeated"));
  CHECK(read_text(one + ".journal") == journal);
  CHECK(read_text(one) == text);
  // Results that were lost are written again from the journal.
  std::filesystem::remove(one);
  CHECK(run_heddle({"batch", jobs, "--out", one}).code == kDone);
  CHECK(read_text(one) == text);
  CHECK(run_heddle({"batch", jobs, "--out", one, "--fresh"}).code == kDone);
  CHECK(read_text(one) == text);
  CHECK(run_heddle({"batch", jobs, "--out", "-"}).out == text);
  // The journal tells what the results leave out.
  for (const heddle::Json& line : read_journal(one + ".journal")) CHECK(line.find("seconds"));
}

TEST_CASE("a journal's line that contradicts itself or its neighbours is said, and its job is run again", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write("jobs.jsonl", R"({"do": "solve", "kernel": "toy_fig1", "machine": "toy"})"
                                                       "\n"
                                                       R"({"do": "solve", "kernel": "toy_fig1", "machine": "toy", "options": {"seed": 3}})"
                                                       "\n");
  const std::string out = scratch.path("jobs.results.jsonl"), journal = out + ".journal";
  REQUIRE(run_heddle({"batch", jobs, "--jobs", "1"}).code == kDone);
  const std::string good = read_text(out);
  const auto forge = [&](const std::string& seed, const std::string& from, const std::string& to) {
    std::string text;
    std::istringstream lines(read_text(journal));
    for (std::string line; std::getline(lines, line);) {
      std::string json = line.substr(17);
      if (const std::size_t at = json.find(from); contains(json, "\"seed\": " + seed) && at != std::string::npos)
        json.replace(at, from.size(), to);
      text += heddle::Hash().add(json).hex() + " " + json + "\n";
    }
    scratch.write("jobs.results.jsonl.journal", text);
  };
  for (const auto& [from, to, why] : std::vector<std::array<std::string, 3>>{
           {R"("ii": 2, "lower_bound": 2)", R"("ii": 2, "lower_bound": 1)", "it says optimal, but II 2 is above its own lower_bound of 1"},
           {R"("ii": 2, "lower_bound": 2)", R"("ii": 1, "lower_bound": 2)", "II 1 is below its own lower_bound of 2"},
           {R"("kernel": "toy_fig1")", R"("kernel": "gemm_hopper")", "its id is that of a job with another \"kernel\""}}) {
    REQUIRE(run_heddle({"batch", jobs, "--jobs", "1", "--fresh"}).code == kDone);
    forge("3", from, to);
    const CliRun run = run_heddle({"batch", jobs, "--jobs", "1", "--verbose"});
    INFO(to << run.err);
    CHECK(run.code == kDone);
    CHECK(contains(run.err, "journal:2: set aside, its job is run again: " + why));
    CHECK(contains(run.err, "job 2 ("));
    CHECK(read_text(out) == good);
    CHECK_FALSE(contains(run_heddle({"batch", jobs, "--jobs", "1", "--verbose"}).err, "job 2 ("));
  }
  // Seeds are no part of the question: the answers must agree.
  REQUIRE(run_heddle({"batch", jobs, "--jobs", "1", "--fresh"}).code == kDone);
  forge("3", R"("ii": 2, "lower_bound": 2)", R"("ii": 9, "lower_bound": 9)");
  forge("3", R"({"name": "ii", "value": 2)", R"({"name": "ii", "value": 9)");
  const CliRun run = run_heddle({"batch", jobs, "--jobs", "1"});
  INFO(run.err);
  CHECK(contains(run.err, "II 9 is proved, it says; line 1 says the same of 2"));
  CHECK(read_text(out) == good);
}

TEST_CASE("an edited job file runs what is new, and equal jobs run once", "[app]") {
  const ScratchFolder scratch;
  const std::string line = R"({"do": "solve", "kernel": "toy_fig1", "machine": "toy"})",
                    other = R"({"do": "analyze", "kernel": "toy_fig1", "machine": "toy"})";
  const std::string jobs = scratch.write("jobs.jsonl", line + "\n" + line + "\n"), out = scratch.path("jobs.results.jsonl");
  CHECK(run_heddle({"batch", jobs, "--verbose"}).code == kDone);
  CHECK(lines_of(read_text(out)).size() == 2);
  scratch.write("jobs.jsonl", other + "\n" + line + "\n");
  const CliRun run = run_heddle({"batch", jobs, "--verbose"});
  CHECK(contains(run.err, "job 1 (line 1, analyze)"));
  CHECK_FALSE(contains(run.err, "job 2 ("));
  CHECK(statuses(out) == std::vector<std::string>{"done", "proved"});
  // Whoever reads the journal along sees both jobs of this batch.
  std::set<std::int64_t> seen;
  const std::string batch = lines_of(read_text(out))[0]["batch"];
  for (const heddle::Json& told : read_journal(out + ".journal"))
    if (*told.find("batch")->string() == batch) seen.insert(*told.find("job")->integer());
  CHECK(seen == std::set<std::int64_t>{1, 2});
}

TEST_CASE("shards of any number merge to the whole, byte for byte", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write("jobs.jsonl", std::string(kToySolves) + "{broken\n"), whole = scratch.path("whole.jsonl");
  REQUIRE(run_heddle({"batch", jobs, "--out", whole}).code == kInvalidInput);
  for (const int count : {2, 5}) {
    std::vector<std::string> merge{"merge", "--out", scratch.path("merged.jsonl")};
    for (int i = count; i >= 1; --i) {
      merge.push_back(scratch.path(fmt::format("{}-of-{}.jsonl", i, count)));
      run_heddle({"batch", jobs, "--shard", fmt::format("{}/{}", i, count), "--out", merge.back()});
    }
    CHECK(run_heddle(merge).code == kDone);
    CHECK(read_text(merge[2]) == read_text(whole));
    merge.pop_back();
    std::filesystem::remove(merge[2]);
    const CliRun partial = run_heddle(merge);
    CHECK(partial.code == kNegative);
    CHECK(contains(partial.err, "in none of the files: 1"));
    CHECK_FALSE(std::filesystem::exists(merge[2]));
    merge.push_back("--partial");
    CHECK(run_heddle(merge).code == kNegative);
    CHECK(lines_of(read_text(merge[2])).size() < 14);
  }
  CHECK(run_heddle({"merge", scratch.path("nothing.jsonl")}).code == kInvalidInput);
  CHECK(run_heddle({"merge", jobs}).code == kInvalidInput);
  CHECK(run_heddle({"merge", "/dev/zero"}).code == kInvalidInput);
  CHECK(run_heddle({"merge", scratch.write("empty.jsonl", "")}).code == kNegative);
  for (const char* shard : {"0/4", "5/4", "1", "1/0", "a/b", "1/2/3", "-1/2", "1/ 2", "1/99999999999999999999"})
    CHECK(run_heddle({"batch", jobs, "--shard", shard}).code == kUsage);
}

TEST_CASE("a job's time and memory are limited, and the rest runs", "[app]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;  // a sanitizer's own memory is far beyond any limit
#endif
  const ScratchFolder scratch;
  const std::string jobs = scratch.write(
      "jobs.jsonl",
      R"({"do": "pareto", "kernel": "attention_backward_hopper", "machine": "h100", "options": {"timeout": 600, "against": ["smem", "registers"]}})"
      "\n"
      R"({"do": "analyze", "kernel": "toy_fig1", "machine": "toy"})"
      "\n");
  // The limit is the second job's too, which takes some hundredths of a second where nothing else runs.
  CHECK(run_heddle({"batch", jobs, "--limit", "4", "--jobs", "2"}).code == kDone);
  CHECK(statuses(scratch.path("jobs.results.jsonl")) == std::vector<std::string>{"timeout", "done"});
  CHECK(processes_with(scratch.path("")) == 0);

  // The solver may notice by itself and go on without an answer, or find a schedule first and lose its proof: the word is the same.
  const std::string solve = scratch.write("solve.jsonl", R"({"do": "solve", "kernel": "attention_forward_hopper", "machine": "h100"})"
                                                         "\n");
  const std::string out = scratch.path("solve.results.jsonl");
  // 64 MiB are enough; in between Z3 does not survive that it cannot make a context.
  CHECK(run_heddle({"batch", solve, "--memory", "32", "--fresh"}).code == kDone);
  CHECK(statuses(out) == std::vector<std::string>{"out of memory"});
  // With more memory it is done again if that is asked for. The order that is predicted to be fastest has more than the least II.
  CHECK(run_heddle({"batch", solve, "--memory", "2000"}).code == kDone);
  CHECK(statuses(out) == std::vector<std::string>{"out of memory"});
  CHECK(run_heddle({"batch", solve, "--memory", "2000", "--retry"}).code == kDone);
  CHECK(statuses(out) == std::vector<std::string>{"feasible"});
}

TEST_CASE("killed at random moments and started again, a batch ends with the same bytes and repeats nothing", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write("jobs.jsonl", kToySolves), whole = scratch.path("whole.jsonl"), out = scratch.path("killed.jsonl");
  REQUIRE(run_heddle({"batch", jobs, "--out", whole}).code == kDone);
  const char* given = std::getenv("HEDDLE_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::stoul(given)) : 20261121u;
  INFO("HEDDLE_SEED=" << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> words{heddle_program(), "batch", jobs, "--jobs", "2", "--out", out};
  int kills = 0;
  for (bool ended = false; !ended;) {
    Process batch(words, scratch.path("errors"));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % (40 + static_cast<unsigned>(kills * (20 + kills)))));
    const std::string parent = fmt::format("{0}{1}{0}", '\0', batch.pid());  // a job is told whose it is (app/batch/job_process.h)
    const int code = batch.end(SIGKILL);
    ended = code == kDone;
    if (!ended) CHECK(code == -SIGKILL);
    ++kills;
    REQUIRE(kills < 200);
    // Its jobs are gone with it, so that the next one does not work beside them.
    REQUIRE(wait_until([&] { return processes_with(parent) == 0; }));
  }
  INFO(kills << " kills");
  CHECK(kills > 1);
  CHECK(read_text(out) == read_text(whole));
  std::set<std::string> finished;
  const auto lines = read_journal(out + ".journal");
  for (const heddle::Json& line : lines) CHECK(finished.insert(*line.find("id")->string()).second);
  CHECK(lines.size() == 13);
}

TEST_CASE("a terminated batch stops its jobs, keeps what is finished, and says how to go on", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write(
      "jobs.jsonl", std::string(R"({"do": "analyze", "kernel": "toy_fig1", "machine": "toy"})") + "\n" +
                        R"({"do": "pareto", "kernel": "attention_backward_hopper", "machine": "h100", "options": {"timeout": 600}})" +
                        "\n");
  const std::string out = scratch.path("out.jsonl");
  Process batch({heddle_program(), "batch", jobs, "--jobs", "2", "--out", out}, scratch.path("errors"));
  REQUIRE(wait_until([&] { return !read_journal(out + ".journal").empty(); }));
  CHECK(batch.end(SIGTERM) == kInterrupted);
  CHECK(contains(read_text(scratch.path("errors")), "1 of 2 jobs are finished and kept"));
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK(read_journal(out + ".journal").size() == 1);
}

TEST_CASE("a job that somebody kills is run again", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write("jobs.jsonl", R"({"do": "compare", "kernel": "gemm_hopper", "machine": "h100"})"
                                                       "\n");
  const std::string out = scratch.path("out.jsonl");
  Process batch({heddle_program(), "batch", jobs, "--out", out, "--no-store"}, scratch.path("errors"));
  // The worker thread's children are listed under its own task.
  pid_t child = 0;
  const auto begun = [&] {
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", batch.pid()), error)) {
      std::istringstream list(read_text((task.path() / "children").string()));
      if (list >> child) return true;
    }
    return false;
  };
  REQUIRE(wait_until(begun));
  ::kill(child, SIGKILL);
  CHECK(batch.end() == kDone);
  CHECK(statuses(out) == std::vector<std::string>{"done"});
}

TEST_CASE("on a full disk a batch stops with what is finished, and goes on when there is room", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write("jobs.jsonl", kToySolves), whole = scratch.path("whole.jsonl"), out = scratch.path("full.jsonl");
  REQUIRE(run_heddle({"batch", jobs, "--out", whole}).code == kDone);
  const std::string script = scratch.write("full.sh", "ulimit -f 8\nexec \"$@\"\n");
  Process full({"/bin/bash", script, heddle_program(), "batch", jobs, "--jobs", "2", "--out", out}, scratch.path("errors"));
  CHECK(full.end() == kEnvironment);
  const std::string said = read_text(scratch.path("errors"));
  INFO(said);
  CHECK(contains(said, "cannot be written"));
  CHECK(contains(said, "finished and kept"));
  CHECK_FALSE(std::filesystem::exists(out));
  const std::size_t kept = read_journal(out + ".journal").size();
  CHECK(kept > 0);
  CHECK(kept < 13);
  CHECK(run_heddle({"batch", jobs, "--out", out}).code == kDone);
  CHECK(read_text(out) == read_text(whole));
  CHECK(read_journal(out + ".journal").size() == 13);
  CHECK(run_heddle({"batch", jobs, "--out", "/dev/full"}).code == kEnvironment);
  std::filesystem::remove("/dev/full.journal");
}

TEST_CASE("a batch says what contradicts itself, and what is not there", "[app]") {
  const ScratchFolder scratch;
  const std::string jobs = scratch.write("jobs.jsonl", kToySolves);
  CHECK(run_heddle({"batch", scratch.path("nothing.jsonl")}).code == kInvalidInput);
  CHECK(run_heddle({"batch", jobs, "--slurm", "--shard", "1/2"}).code == kUsage);
  CHECK(run_heddle({"batch", jobs, "--dry-run"}).code == kUsage);
  CHECK(run_heddle({"batch", jobs, "--partition", "p"}).code == kUsage);
  CHECK(run_heddle({"batch", jobs, "--slurm", "--sbatch", "evil.sh"}).code == kUsage);
  CHECK(run_heddle({"batch", jobs, "--memory", "31"}).code == kUsage);
  CHECK(run_heddle({"batch", jobs, "--jobs", "0"}).code == kUsage);
  CHECK(run_heddle({"batch", jobs, "--out", "/nowhere/results.jsonl"}).code == kEnvironment);
  const std::string empty = scratch.write("empty.jsonl", "# nothing\n");
  CHECK(run_heddle({"batch", empty}).code == kDone);
  CHECK(read_text(scratch.path("empty.results.jsonl")).empty());
}

TEST_CASE("what would be submitted to Slurm is printed, and no name in it is read as shell", "[app]") {
  const ScratchFolder scratch;
  const std::string evil = "a'b $(touch gotcha) `touch gotcha`\n#SBATCH x %a.jsonl";
  const std::string jobs = scratch.write(evil, kToySolves);
  const CliRun run = run_heddle({"batch", jobs, "--slurm", "--shards", "4", "--partition", "p;q", "--time", "1:00:00", "--mem", "2G",
                                 "--sbatch=--account=mine", "--limit", "5", "--dry-run"});
  INFO(run.out);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "--array=1-4"));
  CHECK(contains(run.out, "'--partition=p;q'"));
  CHECK(contains(run.out, "--account=mine"));
  CHECK(contains(run.out, "--limit=5"));
  CHECK(contains(run.out, "--requeue"));
  // A stand-in for sbatch that runs the scripts at once shows that the words arrive whole.
  const std::string fake = scratch.write("sbatch", "#!/bin/sh\nfor script; do :; done\necho \"$*\" >> " + scratch.path("submitted") +
                                                       "\ncase $script in *array.sh) for i in 1 2 3 4; do SLURM_ARRAY_TASK_ID=$i sh "
                                                       "\"$script\" >&2; done;; *) sh \"$script\" >&2;; esac\necho 7\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  ::setenv("PATH", (scratch.path("") + ":" + path).c_str(), 1);
  const CliRun done = run_heddle({"batch", jobs, "--slurm", "--shards", "4", "--jobs", "2"});
  const CliRun again = run_heddle({"batch", jobs, "--slurm", "--shards", "4", "--jobs", "2"});
  ::setenv("PATH", path.c_str(), 1);
  INFO(done.err << read_text(scratch.path("submitted")));
  CHECK(done.code == kDone);
  CHECK_FALSE(std::filesystem::exists("gotcha"));
  const std::string results = jobs.substr(0, jobs.size() - 6) + ".results.jsonl";
  const std::string merged = read_text(results);
  CHECK(lines_of(merged).size() == 13);
  CHECK(again.code == kDone);  // nothing was left to submit: merged at once
  CHECK(contains(again.err, "13 of 13 jobs"));
  CHECK(run_heddle({"batch", jobs, "--out", scratch.path("whole.jsonl")}).code == kDone);
  CHECK(read_text(scratch.path("whole.jsonl")) == merged);
}

TEST_CASE("heddle store shows what is kept and forgets it", "[app]") {
  const ScratchFolder scratch;
  CHECK(run_heddle({"store"}).code == kEnvironment);  // tests have it off
  ::setenv("HEDDLE_STORE", scratch.path("store").c_str(), 1);
  CHECK(contains(run_heddle({"store"}).out, "0 answers"));
  run_heddle({"solve", "toy_fig1", "toy"});
  CHECK(contains(run_heddle({"store", "list"}).out, "solve toy_fig1 on toy"));
  const json size = json::parse(run_heddle({"store", "list", "--json"}).out);
  CHECK(size["entries"] == 2);  // what is proved, and which order was chosen
  CHECK(contains(run_heddle({"store", "list"}).out, "order for toy_fig1 on toy"));
  CHECK(contains(run_heddle({"store", "clear"}).err, "2 entries removed"));
  CHECK(contains(run_heddle({"store"}).out, "0 answers"));

  // A batch's children use it too, and their answers are the same with and without.
  const std::string jobs = scratch.write("jobs.jsonl", kToySolves);
  REQUIRE(run_heddle({"batch", jobs, "--out", scratch.path("1.jsonl")}).code == kDone);
  CHECK(json::parse(run_heddle({"store", "--json"}).out)["entries"] == 24);
  REQUIRE(run_heddle({"batch", jobs, "--out", scratch.path("2.jsonl")}).code == kDone);
  REQUIRE(run_heddle({"batch", jobs, "--out", scratch.path("3.jsonl"), "--no-store"}).code == kDone);
  ::setenv("HEDDLE_STORE", "off", 1);
  CHECK(read_text(scratch.path("1.jsonl")) == read_text(scratch.path("2.jsonl")));
  CHECK(read_text(scratch.path("1.jsonl")) == read_text(scratch.path("3.jsonl")));
}

TEST_CASE("an entry of the store that is a pipe is passed over at once, with one sentence", "[app]") {
  const ScratchFolder scratch;
  ::setenv("HEDDLE_STORE", scratch.path("store").c_str(), 1);
  REQUIRE(run_heddle({"solve", "toy_fig1", "toy"}).code == kDone);
  const std::string entry = json::parse(run_heddle({"store", "list", "--json"}).out)["list"][0]["path"];
  std::filesystem::remove(entry);
  REQUIRE(::mkfifo(entry.c_str(), 0600) == 0);
  std::vector<std::string> said;
  const auto child =
      run_heddle_child({heddle_beside(), "solve", "toy_fig1", "toy"}, {}, [&](std::string line) { said.push_back(std::move(line)); });
  ::setenv("HEDDLE_STORE", "off", 1);
  REQUIRE(child.ok());
  CHECK(child->code == kDone);
  CHECK(std::count_if(said.begin(), said.end(), [&](const std::string& line) { return contains(line, entry + " is no regular file"); }) ==
        1);
}
