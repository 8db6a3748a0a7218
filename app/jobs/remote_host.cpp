// Every command that ssh is given is a constant text; what varies goes to a shell through its standard input, quoted for it. So no login
// shell reads names of ours.
#include "app/jobs/remote_host.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "app/command/arguments.h"
#include "core/base/atomic_file.h"
#include "core/base/environment.h"
#include "core/base/hash.h"
#include "core/base/sha256.h"
#include "core/base/text_style.h"
#include "core/base/version.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

constexpr int kSshFailed = 255;                      // its exit code where it is not the command's
constexpr double kAnswerSeconds = 40;                // for a host to say what it is
constexpr std::string_view kMark = "heddle-there ";  // begins lines that are ours, whatever else a login prints
constexpr std::uint64_t kLargestPackage = std::uint64_t{2} << 30;

/// `command` is read by the login shell there, whichever that is.
std::vector<std::string> ssh_words(const std::string& host, std::string command) {
  return {"ssh",
          "-T",
          "-oBatchMode=yes",
          "-oConnectTimeout=15",
          "-oServerAliveInterval=15",
          "-oServerAliveCountMax=4",
          "-oControlMaster=no",  // one that stays would hold our pipes open; one that is there is used
          "-oRemoteCommand=none",
          "--",
          host,
          std::move(command)};
}

/// What is run there.
struct RemoteCommand {
  std::string command;
  ChildInput input;
  ChildTime time{};
};

Result<ChildResult> ssh(const std::string& host, RemoteCommand run, std::stop_token stop,
                        const std::function<void(std::string_view)>& error_line) {
  auto child = run_child(ssh_words(host, std::move(run.command)), std::move(stop), error_line, run.time, std::move(run.input));
  if (child.ok()) return child;
  const std::string& said = child.error().faults.front().message;
  if (said.starts_with("ssh cannot be started")) return Error::environment("there is no ssh on this machine", "install OpenSSH's client");
  if (said.starts_with("ssh writes without end"))
    return Error::environment(fmt::format("{}: {}", host, said), fmt::format("see what 'ssh {} true' prints in a terminal", host));
  return child;
}

/// What to do about what ssh says.
std::string remedy_of(const std::string& host, std::string_view said) {
  const auto says = [&](std::string_view part) { return said.find(part) != std::string_view::npos; };
  if (says("Permission denied") || says("Too many authentication failures"))
    return fmt::format("no password is asked for here: let ssh log in with a key (ssh-copy-id {})", host);
  if (says("Host key verification failed") || says("host key is known"))
    return fmt::format("its key is not known yet, or another: ssh {} in a terminal shows it", host);
  if (says("Could not resolve")) return "check the name, or give it a line in ~/.ssh/config";
  return fmt::format("try ssh {} in a terminal", host);
}

Error unreachable(const std::string& host, const ChildResult& child) {
  const std::string said = child.last_error.empty() ? "ssh says nothing" : printable(child.last_error);
  return Error::environment(fmt::format("{} cannot be reached: {}", host, said), remedy_of(host, said));
}

/// The lines of ours: behind "heddle-there KEY ".
std::optional<std::string> said_there(const std::string& out, std::string_view key) {
  const std::string begin = fmt::format("{}{} ", kMark, key);
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = std::min(out.find('\n', at), out.size());
    const std::string_view line = std::string_view(out).substr(at, end - at);
    if (line.starts_with(begin)) return printable(line.substr(begin.size()));
    at = end + 1;
  }
  return std::nullopt;
}

/// For a shell there: quoted, but for the home at its beginning.
std::string path_word(const std::string& path) {
  return path.starts_with("~/") ? "\"$HOME\"/" + shell_word(path.substr(2)) : shell_word(path);
}

/// Bytes as text for a shell.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) three = three << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[three >> (18 - 6 * k) & 63] : '=';
    if (i % 57 == 54) text += '\n';
  }
  return text;
}

/// A shell reads all of it before it begins, so that nothing of it is left in its input.
std::string whole(const std::string& script) { return "{\n" + script + "}\n"; }

/// Of "heddle-server-0.1.0-linux-x86_64.tar.gz" the last part; empty: the name does not say.
std::string machine_of_package(const std::string& path) {
  constexpr std::string_view kEnding = ".tar.gz", kSystem = "-linux-";
  const std::string name = fs::path(path).filename().string();
  const std::size_t at = name.rfind(kSystem);
  if (at == std::string::npos || !name.ends_with(kEnding)) return {};
  const std::size_t begin = at + kSystem.size();
  return name.substr(begin, name.size() - kEnding.size() - begin);
}

struct Package {
  std::string path, key;
  std::uint64_t bytes = 0;
};

Error no_package(const std::string& path) {
  return Error::input(path + " is no package for servers", "scripts/package.sh makes heddle-server-VERSION-linux-MACHINE.tar.gz");
}

Result<Package> find_package(const RemoteHost& host) {
  const Result<std::string> named = path_named_by("HEDDLE_PACKAGE");
  if (!named.ok()) return named.error();
  Package package;
  package.path = !host.package.empty() ? host.package : !named->empty() ? *named : package_beside();
  if (package.path.empty())
    return Error::environment("there is no package for servers to copy to " + host.name,
                              "make one with scripts/package.sh and name it with --package FILE or in HEDDLE_PACKAGE, or name a heddle "
                              "that is there with --remote-program PATH");
  const auto text = read_file(package.path, kLargestPackage);
  if (!text.ok()) return text.error();
  if (!text->starts_with("\x1f\x8b")) return no_package(package.path);  // of gzip
  package.bytes = text->size();
  package.key = fmt::format("{}-{}", version(), hex(sha256(*text)).substr(0, 16));
  return package;
}

/// No quote, backslash or '!' within: every shell reads it as one word.
std::string unpack_command(const Package& package) {
  return fmt::format(
      "sh -c 'umask 077; c=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/heddle/servers\"; mkdir -p \"$c\" && t=$(mktemp -d \"$c/new.XXXXXX\") || "
      "exit 1; "
      "leave() {{ rm -rf \"$t\"; }}; trap leave EXIT; tar xzf - -C \"$t\" || exit 1; "
      "for d in \"$t\"/*; do if [ -x \"$d/bin/heddle\" ]; then "
      "echo \"heddle-there version $(\"$d/bin/heddle\" version --quiet)\"; [ -d \"$c/{0}\" ] || mv \"$d\" \"$c/{0}\"; touch \"$c/{0}\"; "
      "fi; done; "
      "find \"$c\" -mindepth 1 -maxdepth 1 -mtime +60 -exec rm -rf {{}} +; [ -x \"$c/{0}/bin/heddle\" ]'",
      package.key);
}

/// Says what the host is, and whether it has the program; that of a package is marked as used.
std::string probe_script(const std::string& program, bool package) {
  return whole(
      fmt::format("program={}\n"
                  "echo \"heddle-there system $(uname -s) $(uname -m)\"\n"
                  "if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || [ -n \"$HEDDLE_CUDA_DRIVER\" ]; then echo 'heddle-there gpu yes'; fi\n"
                  "case $program in */*) [ -x \"$program\" ] && found=$program ;; *) found=$(command -v \"$program\") ;; esac\n"
                  "if [ -n \"$found\" ]; then\n"
                  "  echo \"heddle-there program $found\"\n"
                  "  echo \"heddle-there version $(\"$found\" version --quiet </dev/null)\"\n"
                  "{}"
                  "fi\n"
                  "echo 'heddle-there end .'\n"
                  "exit 0\n",
                  program, package ? "  touch \"${found%/bin/heddle}\"\n" : ""));
}

/// "heddle 0.1.0"; nothing where it did not start.
std::string version_in(const std::optional<std::string>& line) {
  constexpr std::string_view kName = "heddle ";
  return line && line->starts_with(kName) ? line->substr(kName.size()) : std::string();
}

Error does_not_run(const std::string& host, const std::string& what, const ChildResult& child) {
  return Error::environment(
      fmt::format("{} does not run on {}{}", what, host, child.last_error.empty() ? "" : ": " + printable(child.last_error)),
      "it needs Linux with glibc 2.35, or a heddle built there: --remote-program PATH");
}

Result<Ok> copy_package(const std::string& host, const Package& package, const std::stop_token& stop, const SayLine& say) {
  say(fmt::format("copying the package to {}, once ({:.0f} MB)", host, std::max(1.0, static_cast<double>(package.bytes) / 1e6)));
  std::string first;  // that it says: the others follow from it
  const auto child = ssh(host, {unpack_command(package), {package.path, {}}}, stop, [&](std::string_view line) {
    if (first.empty()) first = printable(line);
  });
  if (!child.ok()) return child.error();
  if (child->code == kSshFailed || child->signal != 0) return unreachable(host, *child);
  const auto version = said_there(child->out, "version");
  if (version && version_in(version).empty()) return does_not_run(host, "the package's program", *child);
  if (child->code == 0 && version) return Ok{};
  if (first.empty()) return no_package(package.path);
  return Error::environment(fmt::format("the package cannot be unpacked on {}: {}", host, first),
                            "it goes to ~/.cache/heddle/servers there");
}

}  // namespace

std::string why_no_host(std::string_view name) {
  if (name.empty()) return "the host has no name";
  if (name.front() == '-') return "a host does not begin with '-'";
  const auto strange = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 127 || std::string_view("'\"`\\$;&|<>(){}!*?#~^").find(c) != std::string_view::npos;
  };
  if (std::any_of(name.begin(), name.end(), strange)) return "a host has no blanks, quotes or other signs of a shell in its name";
  return {};
}

std::string package_beside() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path() / "packages";
  const std::string begin = fmt::format("heddle-server-{}-linux-", version());
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored))
    if (const std::string name = at->path().filename().string(); name.starts_with(begin) && name.ends_with(".tar.gz"))
      return at->path().string();
  return {};
}

Result<RemoteHeddle> reach(const RemoteHost& host, std::stop_token stop, const SayLine& say) {
  if (std::string reason = why_no_host(host.name); !reason.empty())
    return Error::input(fmt::format("'{}' is no host for ssh: {}", printable(host.name), reason));
  std::optional<Package> package;
  if (host.program.empty()) {
    auto found = find_package(host);
    if (!found.ok()) return found.error();
    package = std::move(*found);
  }
  const std::string there =
      package ? fmt::format("\"${{XDG_CACHE_HOME:-$HOME/.cache}}/heddle/servers/{}/bin/heddle\"", package->key) : path_word(host.program);
  for (bool copied = false;; copied = true) {
    const auto probe = ssh(host.name, {"sh -s", {{}, probe_script(there, package.has_value())}, {kAnswerSeconds, 2}}, stop, {});
    if (!probe.ok()) return probe.error();
    if (probe->timed_out)
      return Error::environment(fmt::format("{} did not answer within {:.0f} s", host.name, kAnswerSeconds), remedy_of(host.name, {}));
    if (probe->code == kSshFailed || probe->signal != 0) return unreachable(host.name, *probe);
    if (!said_there(probe->out, "end"))
      return Error::environment(fmt::format("{} answers, but runs no sh: {}", host.name,
                                            probe->last_error.empty() ? "it says nothing" : printable(probe->last_error)),
                                "the account there must run commands");
    const std::string system = said_there(probe->out, "system").value_or("");
    if (package)
      if (const std::string machine = machine_of_package(package->path); !machine.empty() && system != "Linux " + machine)
        return Error::environment(fmt::format("{} is {}; the package is for Linux {}", host.name, system, machine),
                                  "build Heddle there and name it with --remote-program PATH");
    if (!said_there(probe->out, "gpu"))
      return Error::environment(fmt::format("{} has no NVIDIA GPU, or no driver (there is no /dev/nvidiactl)", host.name),
                                "install the driver there, or name another host");
    if (const auto program = said_there(probe->out, "program")) {
      RemoteHeddle heddle{host.name, *program, version_in(said_there(probe->out, "version"))};
      if (heddle.version.empty()) return does_not_run(host.name, *program, *probe);
      if (heddle.version != version()) say(fmt::format("heddle on {} is version {}, this is {}", host.name, heddle.version, version()));
      return heddle;
    }
    if (!package)
      return Error::environment(fmt::format("there is no program {} on {}", printable(host.program), host.name),
                                "name the path it has there, or leave --remote-program out to copy the package");
    if (copied) return Error::environment(fmt::format("the package does not stay on {}", host.name), "is its home writable?");
    if (const auto done = copy_package(host.name, *package, stop, say); !done.ok()) return done.error();
  }
}

Result<ChildResult> run_there(const RemoteHeddle& heddle, const std::vector<std::string>& words, const std::vector<RemoteFile>& files,
                              std::stop_token stop, const std::function<void(std::string_view)>& error_line) {
  constexpr std::string_view kBegin = "heddle-there begin .\n";
  std::string script =
      "job=$(mktemp -d \"${TMPDIR:-/tmp}/heddle-run.XXXXXX\") || exit 125\n"
      "run='' watch=''\n"
      "leave() { kill $run $watch; cd /; rm -rf \"$job\"; } 2>/dev/null\n"
      "trap leave EXIT\n"
      "trap 'exit 143' HUP INT TERM\n"
      "cd \"$job\" || exit 125\n";
  script += "mkdir cubins && HEDDLE_CUBINS=$job/cubins HEDDLE_CALLED=heddle && export HEDDLE_CUBINS HEDDLE_CALLED\n";
  for (const RemoteFile& file : files) {
    const std::string text = file.binary ? base64(file.content) : file.content, end = "END-" + Hash().add(text).hex();
    script += fmt::format("{} >{} <<'{}' || exit 125\n{}{}{}\n", file.binary ? "base64 -d" : "cat", file.name, end, text,
                          text.ends_with('\n') ? "" : "\n", end);
  }
  // Where the connection is cut, standard input ends, and with it the run.
  script += fmt::format(
      "exec 3<&0\n"
      "echo 'heddle-there begin .'\n"
      "{} {} 3<&- </dev/null &\n"
      "run=$!\n"
      "{{ read -r nothing; kill \"$run\"; }} <&3 >/dev/null 2>&1 &\n"
      "watch=$!\n"
      "wait \"$run\"\n"
      "code=$? run=''\n"
      "exit \"$code\"\n",
      shell_word(heddle.program), shell_words(words));
  auto child = ssh(heddle.host, {"sh -s", {{}, whole(script)}}, std::move(stop), error_line);
  if (!child.ok() || child->cancelled) return child;
  const std::size_t begin = child->out.find(kBegin);
  if (child->code == kSshFailed || child->signal != 0) {
    if (begin == std::string::npos) return unreachable(heddle.host, *child);
    return Error::environment(fmt::format("the connection to {} was lost while the kernel ran{}", heddle.host,
                                          child->last_error.empty() ? "" : ": " + printable(child->last_error)),
                              "nothing of the measurement came back; run it again");
  }
  if (begin == std::string::npos)
    return Error::environment(fmt::format("nothing could be written to a folder of its own on {}{}", heddle.host,
                                          child->last_error.empty() ? "" : ": " + printable(child->last_error)),
                              "is its disk full?");
  child->out.erase(0, begin + kBegin.size());
  return child;
}

}  // namespace heddle::app
