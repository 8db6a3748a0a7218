// heddle capture: runs a program with stand-ins for the CUDA driver and runtime (ptx/capture) in front of the real ones, and lists what it
// launched.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/terminal.h"
#include "codegen/run/driver.h"
#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/base/process.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

/// The folder with the stand-ins: beside the program in a build, in lib/heddle where it is installed. Empty: there is none.
std::string stand_ins() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& folder : {program / "capture", program.parent_path() / "lib/heddle/capture"})
    if (fs::exists(folder / "libcuda.so.1", ignored)) return folder.string();
  return {};
}

/// The GPU of this machine, as far as the program has to be told of it.
struct Gpu {
  std::string driver;  ///< its file; empty: there is no GPU
  std::string target;  ///< "sm_90a"
};

Gpu find_gpu() {
  const Result<codegen::cuda::Driver> driver = codegen::cuda::open_driver();
  int count = 0, major = 0, minor = 0;
  if (!driver || driver->init(0) != 0 || driver->device_count(&count) != 0 || count == 0) return {};
  driver->device_attribute(&major, codegen::cuda::kMajor, 0);
  driver->device_attribute(&minor, codegen::cuda::kMinor, 0);
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(driver->init), &info)) return {};
  return {info.dli_fname, fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "")};
}

/// Whether it is the name of a file that a capture writes: a number, and .json or .ptx.
bool is_ours(const fs::path& file) {
  const std::string stem = file.stem().string(), ending = file.extension().string();
  return !stem.empty() && stem.find_first_not_of("0123456789") == std::string::npos && (ending == ".json" || ending == ".ptx");
}

std::vector<fs::path> files_of_capture(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored))
    if (is_ours(at->path())) files.push_back(at->path());
  const auto number = [](const fs::path& file) { return std::strtoull(file.stem().c_str(), nullptr, 10); };
  std::sort(files.begin(), files.end(), [&](const fs::path& a, const fs::path& b) { return number(a) < number(b); });
  return files;
}

/// Makes the folder, and an empty one for texts in it. kDone, or what is wrong has been said.
int prepare(const Arguments& arguments, const Terminal& terminal, const std::string& folder) {
  const bool json = arguments.has("--json");
  const std::vector<fs::path> before = files_of_capture(folder);
  if (!before.empty() && !arguments.has("--force"))
    return report(terminal,
                  Error::input(fmt::format("'{}' holds launches already", folder), "name another folder with --out, or say --force"), json);
  std::error_code failed;
  for (const fs::path& file : before) fs::remove(file, failed);
  fs::remove_all(fs::path(folder) / "texts", failed);
  fs::create_directories(fs::path(folder) / "texts", failed);
  if (failed || access(folder.c_str(), W_OK) != 0)
    return report(terminal, Error::environment(fmt::format("'{}' cannot be written to", folder), "name another folder with --out"), json);
  return kDone;
}

std::string in_front(const std::string& word, const char* variable) {
  const char* before = std::getenv(variable);
  return before && *before ? word + ":" + before : word;
}

/// What the program, and those that it starts, find in their environment. Compilers of Python programs keep their PTX where the stand-ins
/// look for it: Triton's machine code is the text itself (ptx/capture/ptxas.sh), CuTe DSL writes it beside.
std::vector<std::string> environment(const Arguments& arguments, const std::string& folder, const std::string& libraries, const Gpu& gpu) {
  const std::string texts = folder + "/texts";
  std::string preloaded = libraries + "/libcuda.so.1";
  if (gpu.driver.empty()) preloaded += ":" + libraries + "/libcudart.so.13:" + libraries + "/libcudart.so.12";
  const std::string target = arguments.text("--target").value_or(gpu.target.empty() ? "sm_90a" : gpu.target);
  std::vector<std::string> all{
      "LD_PRELOAD=" + in_front(preloaded, "LD_PRELOAD"),
      "LD_LIBRARY_PATH=" + in_front(libraries, "LD_LIBRARY_PATH"),
      "PYTHONPATH=" + in_front(libraries + "/python", "PYTHONPATH"),
      "HEDDLE_CAPTURE_DIR=" + folder,
      "HEDDLE_CAPTURE_TARGET=" + target,
      "HEDDLE_CAPTURE_DRIVER=" + gpu.driver,
      "HEDDLE_CAPTURE_TEXTS=" + texts + (arguments.has("--texts") ? ":" + fs::absolute(*arguments.text("--texts")).string() : ""),
      "TRITON_LIBCUDA_PATH=" + libraries,
      "TRITON_CACHE_DIR=" + texts + "/triton",
      "TRITON_PTXAS_PATH=" + libraries + "/ptxas",
      "TRITON_PTXAS_BLACKWELL_PATH=" + libraries + "/ptxas",
      "TILELANG_CACHE_DIR=" + texts + "/tilelang",
      "CUTE_DSL_ARCH=" + target,
      "CUTE_DSL_KEEP=ptx",
      "CUTE_DSL_DUMP_DIR=" + texts,
      "PYTORCH_NO_CUDA_MEMORY_CACHING=1",  // each tensor has memory of its own, with its bounds
  };
  // What PyTorch has nvcc build keeps its PTX: "9.0a+PTX" of sm_90a.
  std::string version = target.substr(3);
  version.insert(version.find_last_of("0123456789"), ".");
  if (!std::getenv("TORCH_CUDA_ARCH_LIST")) all.push_back("TORCH_CUDA_ARCH_LIST=" + version + "+PTX");
  if (const auto bytes = arguments.integer("--contents")) all.push_back(fmt::format("HEDDLE_CAPTURE_CONTENTS={}", *bytes));
  if (const auto most = arguments.integer("--most")) all.push_back(fmt::format("HEDDLE_CAPTURE_MOST={}", *most));
  return all;
}

/// Names of templates may be longer than a screen.
std::string short_kernel_name(const std::string& name) {
  constexpr std::size_t kMost = 100;
  return name.size() <= kMost ? name : name.substr(0, kMost) + "...";
}

std::string words_of(const Json* list) {
  std::string text;
  if (list && list->items())
    for (const Json& number : *list->items())
      text += (text.empty() ? "" : "x") + (number.integer() ? fmt::to_string(*number.integer()) : "?");
  return text;
}

/// One line for a launch, or an object of those of its members that tell launches apart.
struct Listing {
  std::string text;
  Json objects = Json::array();
  std::size_t launches = 0;

  void add(const fs::path& file) {
    const Result<std::string> read = read_file(file.string());
    const Result<Json> launch = read ? parse_json(*read, file.string()) : Result<Json>(read.error());
    if (!launch) return;  // the program was killed while it wrote it
    ++launches;
    Json object = Json::Object{{"file", file.filename().string()}};
    for (const char* name : {"kernel", "ptx", "grid", "cluster", "block", "dynamic_shared"})
      if (const Json* member = launch->find(name)) object.set(name, *member);
    const Json* maps = launch->find("maps");
    object.set("maps", maps && maps->items() ? maps->items()->size() : 0);
    const std::string cluster = words_of(object.find("cluster"));
    const Json* kernel = object.find("kernel");
    text += fmt::format("{}: {}, grid {}{}, block {}, {} bytes of dynamic shared memory, tensor maps: {}\n", file.filename().string(),
                        kernel && kernel->string() ? short_kernel_name(*kernel->string()) : "?", words_of(object.find("grid")),
                        cluster == "1x1x1" ? "" : ", cluster " + cluster, words_of(object.find("block")),
                        object.find("dynamic_shared") ? object.find("dynamic_shared")->line() : "0", object.find("maps")->line());
    objects.push(std::move(object));
  }
};

/// The program's file; a fault where there is none.
Result<std::string> program_file(const std::string& name) {
  const std::string file = name.find('/') == std::string::npos ? find_program(name) : name;
  std::error_code ignored;
  if (file.empty() && fs::exists(name, ignored))
    return Error::input(fmt::format("there is no program '{}' on PATH", name), "say ./" + name);
  if (file.empty() || !fs::is_regular_file(file, ignored)) return Error::input(fmt::format("there is no program '{}'", name), "");
  if (access(file.c_str(), X_OK) != 0) return Error::input(fmt::format("'{}' cannot be run", name), "is it a program?");
  return file;
}

}  // namespace

int run_capture(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const std::string libraries = stand_ins();
  if (libraries.empty())
    return report(
        terminal,
        Error::environment("this heddle was built without the stand-ins for CUDA's libraries", "build it where the headers of CUDA 13 are"),
        json);
  std::vector<std::string> words = arguments.all("PROGRAM");
  const Result<std::string> program = program_file(words.front());
  if (!program) return report(terminal, program.error(), json);
  words.front() = *program;
  const std::string folder = fs::absolute(arguments.text("--out").value_or("launches")).lexically_normal().string();
  if (const int failed = prepare(arguments, terminal, folder)) return failed;
  const Gpu gpu = arguments.has("--no-gpu") ? Gpu{} : find_gpu();
  ProcessPlan plan{std::move(words)};
  if (json) plan.streams = {{STDOUT_FILENO, STDERR_FILENO}};  // our own standard output is one object
  plan.environment = environment(arguments, folder, libraries, gpu);
  Process child(std::move(plan));
  if (child.failure() != 0) return report(terminal, Error::input(fmt::format("'{}' cannot be run", *program), "is it a program?"), json);
  const ProcessEnd end = child.wait();

  Listing listing;
  for (const fs::path& file : files_of_capture(folder))
    if (file.extension() == ".json") listing.add(file);
  if (end.signal != 0)
    terminal.note(fmt::format("the program was ended by signal {}", end.signal));
  else if (end.code != 0)
    terminal.note(fmt::format("the program ended with code {}", end.code));
  if (json)
    terminal.out << Json(Json::Object{{"folder", folder},
                                      {"program_code", end.signal != 0 ? 128 + end.signal : end.code},
                                      {"launches", std::move(listing.objects)}})
                        .pretty();
  else
    terminal.out << listing.text;
  if (listing.launches == 0)
    terminal.complain("the program launched no kernel whose PTX is known");
  else
    terminal.note(fmt::format("{} launch{} in {}{}", listing.launches, listing.launches == 1 ? "" : "es", folder,
                              gpu.driver.empty() ? "; nothing was computed, so what the program says of results means nothing" : ""));
  return listing.launches > 0 ? kDone : kNegative;
}

}  // namespace heddle::app
