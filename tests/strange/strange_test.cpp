// Valid but strange documents through all commands: nothing crashes, hangs, contradicts itself or prints what nobody can read.
//
//   HEDDLE_SEED=N           the first world (default 1); world N is the same on every machine, as far as seconds allow
//   HEDDLE_STRANGE_RUNS=N   command runs (default 1000; slow: 100000)
//   HEDDLE_STRANGE_JOBS=N   worlds at a time (default 1; slow: one per processor)
//
// Every world is a process of its own, so that a crash ends that world only; the folder of a world in which something broke is kept.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "app/cli/cli.h"
#include "app/command/exit_code.h"
#include "tests/strange/documents.h"
#include "tests/strange/judge.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::strange;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int kRunsPerWorld = 12;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)  // clang
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif
constexpr int kHangSeconds = kSanitized ? 60 : 20;
constexpr long kMostMegabytes = kSanitized ? 6000 : 2000;

std::int64_t setting(const char* name, std::int64_t standard) {
  const char* given = std::getenv(name);
  return given && *given ? std::strtoll(given, nullptr, 10) : standard;
}

/// What a signal does where no test framework has its hands on it: with the address sanitizer, a report.
struct Handlers {
  static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT};
  std::array<struct sigaction, kSignals.size()> actions{};
  Handlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &actions[i]);
  }
  void restore() const {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions[i], nullptr);
  }
};
const Handlers original_handlers;

// ---- inside a world

class Traveller {
 public:
  Traveller(std::uint64_t seed, const std::string& folder, int pipe) : dice_(seed), folder_(folder), pipe_(pipe) {}

  void run(int count) {
    environment();
    world_ = make_world(dice_, folder_);
    for (const auto& [kind, share] : world_.shares) tell({{"share", kind}, {"made", share.made}, {"read", share.read}});
    for (int i = 0; i < count; ++i) step(random_line(dice_, world_));
    tell({{"done", true}});
  }

 private:
  void environment() {
    setenv("HOME", folder_.c_str(), 1);
    for (const char* name :
         {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "DISPLAY", "WAYLAND_DISPLAY", "HEDDLE_STORE_MIB"})
      unsetenv(name);
    setenv("HEDDLE_STORE", dice_.chance(50) ? (folder_ + "/store").c_str() : "off", 1);
    for (const char* name : {"HEDDLE_CUDA_DRIVER", "HEDDLE_NVRTC", "HEDDLE_NVCC", "HEDDLE_GUI"}) setenv(name, "/nonexistent/heddle", 1);
  }

  void tell(const json& message) {
    const std::string text = message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n = ::write(pipe_, text.data() + sent, text.size() - sent);
      if (n <= 0) _exit(9);
      sent += static_cast<std::size_t>(n);
    }
  }

  void complain(const Line& line, const std::vector<std::string>& broken) {
    for (const std::string& what : broken) tell({{"broken", what}, {"line", shell_text(line)}});
  }

  Run execute(const Line& line) {
    tell({{"begin", shell_text(line)}});
    const auto before = std::chrono::steady_clock::now();
    std::ostringstream out, err;
    Run run{line, 0, {}, {}};
    static const int nothing = ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);  // what heddle serve reads here
    if (nothing < 0) _exit(9);
    run.code = app::run_cli(line.words, out, err);
    run.out = out.str();
    run.err = err.str();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    tell({{"end", line.command}, {"code", run.code}, {"seconds", seconds}, {"said", run.err.substr(0, 400)}});
    return run;
  }

  void step(const Line& line) {
    std::map<std::string, fs::file_time_type> files = times();
    const Run run = execute(line);
    complain(line, judge_.look_at(run));
    look_around(line, files);
    follow_up(run);
    Subject& subject = world_.subjects[line.subject];
    for (const std::string& output : line.outputs) {
      std::error_code ignored;
      if (fs::is_directory(output, ignored)) {
        for (const auto& entry : fs::directory_iterator(output, ignored)) adopt(world_, subject, entry.path().string());
      } else {
        adopt(world_, subject, output);
      }
    }
  }

  std::map<std::string, fs::file_time_type> times() const {
    std::map<std::string, fs::file_time_type> files;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored))
      if (entry.is_regular_file(ignored)) files[entry.path().string()] = entry.last_write_time(ignored);
    return files;
  }

  /// Nothing is written but what was named.
  void look_around(const Line& line, const std::map<std::string, fs::file_time_type>& before) {
    if (line.command == "batch" || line.command == "tune") return;  // journals beside their files
    for (const auto& [file, time] : times()) {
      if (std::find(line.outputs.begin(), line.outputs.end(), file) != line.outputs.end()) continue;
      const auto known = before.find(file);
      if (known == before.end())
        complain(line, {"left " + file + " behind"});
      else if (known->second != time)
        complain(line, {"changed " + file});
    }
  }

  /// The words of a line that say which problem it is about.
  static std::vector<std::string> about(const World& world, const Line& line, const char* command, const std::string& file) {
    std::vector<std::string> words{command};
    for (const std::string& word : world.subjects[line.subject].words) words.push_back(word);
    words.push_back(file);
    for (std::size_t i = 1; i < line.words.size(); ++i)
      for (const char* flag : {"--param", "--subtile", "--set", "--loop", "--reading", "--constraints", "--demand", "--emitter"}) {
        const std::string& word = line.words[i];
        if (word == "--groups" && i + 1 < line.words.size()) words.insert(words.end(), {"--set", "groups=" + line.words[i + 1]});
        if (word.starts_with("--groups=")) words.insert(words.end(), {"--set", word.substr(2)});
        if (word.starts_with(std::string(flag) + "=") || word == "--emitter") {
          if (word.starts_with(flag)) words.push_back(word);
        } else if (word == flag && i + 1 < line.words.size()) {
          words.push_back(word);
          words.push_back(line.words[i + 1]);
        }
      }
    return words;
  }

  void follow_up(const Run& run) {
    const Line& line = run.line;
    for (const std::string& file : line.outputs) {
      std::error_code ignored;
      if (!fs::is_regular_file(file, ignored) || fs::file_size(file, ignored) == 0) continue;
      const std::string format = line.value("--format");
      const bool legal = line.command == "solve" && (run.code == app::kDone || run.code == app::kNoProof);
      if (legal && file.ends_with(".heddle.json") == false) {
        Line check = line;
        check.command = "check";
        check.words = about(world_, line, "check", file);
        check.words.push_back("--json");
        check.outputs.clear();
        complain(check, judge_.look_at_check(run, execute(check)));
      }
      if (line.command == "export" && run.code == app::kDone && (format == "schedule_graph" || format == "variants")) {
        Line audit = line;
        audit.command = "audit";
        audit.words = {"audit", file, "--no-solve", "--json"};
        audit.outputs.clear();
        const Run again = execute(audit);
        complain(audit, judge_.look_at(again));
        if (again.code != app::kDone && again.code != app::kNegative)
          complain(audit, {fmt::format("what export wrote ends with {}: {}", again.code, again.err.substr(0, 300))});
      }
    }
    same_again(run);
  }

  /// Without the lines that say how long it took.
  static std::string timeless(const std::string& text) {
    std::istringstream lines(text);
    std::string kept;
    for (std::string line; std::getline(lines, line);)
      if (line.find("seconds") == std::string::npos && line.find(" s)") == std::string::npos && line.find(" ms") == std::string::npos)
        kept += line + "\n";
    return kept;
  }

  /// What searches nothing says the same twice.
  void same_again(const Run& run) {
    const std::string& c = run.line.command;
    if (c != "analyze" && c != "check" && c != "eval" && c != "list" && c != "adopt" && c != "merge") return;
    if (!run.line.outputs.empty() || !dice_.chance(10)) return;
    if (!run.line.value("--timeout").empty() || run.code == app::kNoProof) return;  // time decides what is said
    const Run again = execute(run.line);
    if (again.code != run.code || timeless(again.out) != timeless(run.out)) complain(run.line, {"says something else the second time"});
  }

  Dice dice_;
  const std::string folder_;
  const int pipe_;
  World world_;
  Judge judge_;
};

// ---- outside

struct Count {
  int runs = 0;
  std::map<int, int> codes;
  double seconds = 0, longest = 0;
};

struct Report {
  std::map<std::string, Count> commands;
  std::map<std::string, Share> shares;
  std::vector<std::string> broken;
  int runs = 0;
};

/// One world that is under way.
struct Voyage {
  std::uint64_t seed = 0;
  std::string folder, text, line;
  pid_t child = 0;
  int pipe = -1, broken = 0;
  bool done = false;
  std::chrono::steady_clock::time_point heard;
  double worked = 0;  ///< processor seconds until then
};

class Fleet {
 public:
  Fleet(std::uint64_t seed, std::int64_t runs, std::int64_t jobs) : seed_(seed), runs_(runs), jobs_(std::max<std::int64_t>(jobs, 1)) {}

  Report sail() {
    const bool verbose = setting("HEDDLE_STRANGE_VERBOSE", 0) != 0;
    while (report_.runs < runs_ || !under_way_.empty()) {
      while (report_.runs < runs_ && static_cast<std::int64_t>(under_way_.size()) < jobs_) launch();
      std::vector<pollfd> polled;
      for (const Voyage& v : under_way_) polled.push_back({v.pipe, POLLIN, 0});
      poll(polled.data(), polled.size(), 500);
      for (std::size_t i = under_way_.size(); i-- > 0;) {
        Voyage& v = under_way_[i];
        const bool over = polled[i].revents != 0 && !listen(v, verbose);
        // Processor time: a machine that is busy with other things is no hang.
        const bool hangs = processor_seconds(v.child) - v.worked > kHangSeconds ||
                           std::chrono::steady_clock::now() - v.heard > std::chrono::seconds(10 * kHangSeconds);
        if (hangs && !over) {
          kill(v.child, SIGKILL);
          note(v, fmt::format("no end after {} s", kHangSeconds));
        }
        if (!over && !hangs) continue;
        bury(v, hangs);
        under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    return report_;
  }

 private:
  void launch() {
    Voyage v;
    v.seed = seed_++;
    v.folder = (fs::temp_directory_path() / fmt::format("heddle_strange_{}_{}", getpid(), v.seed)).string();
    fs::remove_all(v.folder);
    fs::create_directories(v.folder);
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    v.child = fork();
    REQUIRE(v.child >= 0);
    if (v.child == 0) {
      close(ends[0]);
      original_handlers.restore();
      Traveller(v.seed, v.folder, ends[1]).run(kRunsPerWorld);
      _exit(0);  // no destructors of what the parent owns
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    v.pipe = ends[0];
    v.heard = std::chrono::steady_clock::now();
    under_way_.push_back(std::move(v));
  }

  static double processor_seconds(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  void note(Voyage& v, const std::string& what) {
    ++v.broken;
    const std::string text =
        fmt::format("{}\n    {}\n    in {}, again with HEDDLE_SEED={} HEDDLE_STRANGE_RUNS=1", what, v.line, v.folder, v.seed);
    fmt::print("BROKEN: {}\n", text);
    std::fflush(stdout);
    report_.broken.push_back(text);
  }

  /// False at its end.
  bool listen(Voyage& v, bool verbose) {
    std::array<char, 65536> buffer;
    ssize_t n = 0;
    while ((n = read(v.pipe, buffer.data(), buffer.size())) > 0) v.text.append(buffer.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end; (end = v.text.find('\n', begin)) != std::string::npos; begin = end + 1)
      hear(v, json::parse(v.text.begin() + static_cast<std::ptrdiff_t>(begin), v.text.begin() + static_cast<std::ptrdiff_t>(end)), verbose);
    v.text.erase(0, begin);
    return n != 0;
  }

  void hear(Voyage& v, const json& message, bool verbose) {
    v.heard = std::chrono::steady_clock::now();
    v.worked = processor_seconds(v.child);
    if (message.contains("begin")) {
      v.line = message["begin"];
    } else if (message.contains("end")) {
      Count& count = report_.commands[message["end"]];
      const double seconds = message["seconds"];
      ++count.runs;
      ++report_.runs;
      ++count.codes[message["code"].get<int>()];
      count.seconds += seconds;
      count.longest = std::max(count.longest, seconds);
      if (verbose) fmt::print("{} {:.2f} s: {}\n    {}\n", message["code"].get<int>(), seconds, v.line, message["said"].get<std::string>());
    } else if (message.contains("share")) {
      Share& share = report_.shares[message["share"]];
      share.made += message["made"].get<int>();
      share.read += message["read"].get<int>();
    } else if (message.contains("broken")) {
      v.line = message["line"];
      note(v, message["broken"]);
    } else if (message.contains("done")) {
      v.done = true;
    }
  }

  void bury(Voyage& v, bool known) {
    int status = 0;
    rusage used{};
    while (wait4(v.child, &status, 0, &used) < 0 && errno == EINTR) {
    }
    close(v.pipe);
    if (!known && WIFSIGNALED(status))
      note(v, fmt::format("ended by signal {}", WTERMSIG(status)));
    else if (!known && (!v.done || WEXITSTATUS(status) != 0))
      note(v, fmt::format("ended with {}", WEXITSTATUS(status)));
    if (used.ru_maxrss / 1024 > kMostMegabytes) note(v, fmt::format("took {} MiB", used.ru_maxrss / 1024));
    std::error_code ignored;
    if (v.broken == 0 && setting("HEDDLE_STRANGE_KEEP", 0) == 0) fs::remove_all(v.folder, ignored);
  }

  std::uint64_t seed_;
  const std::int64_t runs_, jobs_;
  std::vector<Voyage> under_way_;
  Report report_;
};

void print(const Report& report) {
  fmt::print("{:<14}{:>7}{:>9}{:>9}   exit codes\n", "command", "runs", "s", "longest");
  for (const auto& [name, count] : report.commands) {
    std::string codes;
    for (const auto& [code, n] : count.codes) codes += fmt::format("{}: {}  ", code, n);
    fmt::print("{:<14}{:>7}{:>9.1f}{:>9.2f}   {}\n", name, count.runs, count.seconds, count.longest, codes);
  }
  int made = 0, read = 0;
  for (const auto& [kind, share] : report.shares) {
    fmt::print("{:<18} {:>6} of {:>6} read, {:.1f} %\n", kind, share.read, share.made, 100.0 * share.read / std::max(share.made, 1));
    made += share.made;
    read += share.read;
  }
  fmt::print("{} runs of {} commands; {} of {} documents read, {:.1f} %; {} broken\n", report.runs, report.commands.size(), read, made,
             100.0 * read / std::max(made, 1), report.broken.size());
}

void travel(std::uint64_t standard_seed, std::int64_t standard_runs, std::int64_t standard_jobs) {
  const auto seed = static_cast<std::uint64_t>(setting("HEDDLE_SEED", static_cast<std::int64_t>(standard_seed)));
  const std::int64_t runs = setting("HEDDLE_STRANGE_RUNS", standard_runs);
  fmt::print("HEDDLE_SEED={} HEDDLE_STRANGE_RUNS={}\n", seed, runs);
  std::fflush(stdout);
  const Report report = Fleet(seed, runs, setting("HEDDLE_STRANGE_JOBS", standard_jobs)).sail();
  print(report);
  CHECK(report.broken.size() == 0);
  if (report.runs < 500) return;
  int made = 0, read = 0;
  for (const auto& [kind, share] : report.shares) made += share.made, read += share.read;
  CHECK(read >= made * 9 / 10);  // else it is the reader that is tried, which others do
}

}  // namespace

TEST_CASE("every command and every option that takes a word has a recipe", "[strange]") {
  CHECK(missing_recipes() == std::vector<std::string>());
}

TEST_CASE("a thousand commands on strange documents break nothing", "[strange]") { travel(1, 1000, 1); }

TEST_CASE("a hundred thousand commands on strange documents break nothing", "[strange][.slow]") {
  travel(1'000'000, 100'000, static_cast<std::int64_t>(std::thread::hardware_concurrency()));
}

TEST_CASE("the readers of XML and CSV that judge here see what is wrong", "[strange]") {
  CHECK(xml_fault("<?xml version=\"1.0\"?>\n<a x=\"1\"><b/>t &amp; u</a>\n").empty());
  for (const char* bad : {"<a>", "<a></b>", "<a x=1/>", "<a>&</a>", "<a x=\"<\"/>", "<a/><b/>", "<a x=\"1\" x=\"2\"/>", "t"})
    CHECK(!xml_fault(bad).empty());
  CHECK(csv_fault("a,b\n\"x,\"\"\n\",2\n").empty());
  for (const char* bad : {"a,b\n1\n", "a\n\"", "a"}) CHECK(!csv_fault(bad).empty());
  CHECK(utf8_fault("ünïcödé").empty());
  CHECK(!utf8_fault("\xff").empty());
}
