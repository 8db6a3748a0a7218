#include "codegen/compile/compile.h"

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "codegen/compile/backends.h"
#include "core/base/atomic_file.h"
#include "core/base/environment.h"
#include "core/base/hash.h"
#include "core/base/text_style.h"
#include "core/library/library.h"

namespace heddle::codegen {
namespace {

constexpr std::size_t kLogShown = 2000;

/// In the cache: the text itself, so that two texts of one name are told apart, then the log, then the cubin.
struct Entry {
  std::string source, log, cubin;
};

Result<Entry> read_entry(const std::string& path) {
  Entry entry;
  std::string* const parts[] = {&entry.source, &entry.log, &entry.cubin};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    auto text = read_file(path + kEntryEndings[i]);
    if (!text.ok()) return text.error();
    *parts[i] = std::move(*text);
  }
  return entry;
}

void write_entry(const std::string& path, const Entry& entry) {
  // A cache that cannot be written costs time only.
  if (!write_file(path + ".cubin", entry.cubin, MissingFolder::Create).ok()) return;
  if (!write_file(path + ".log", entry.log).ok()) return;
  (void)write_file(path + ".cu", entry.source).ok();
}

/// A package may bring along a cache of what its schedules compile to, for machines without a compiler.
struct Packed {
  std::string folder, compiler;
};

std::optional<Packed> packed_in(const Result<std::string>& folder) {
  if (!folder.ok() || folder->empty()) return std::nullopt;
  const auto compiler = read_file(*folder + "/compiler");
  if (!compiler.ok()) return std::nullopt;
  return Packed{*folder, compiler->substr(0, compiler->find('\n'))};
}

/// The compiler counts by what it is, not by where it lies.
std::string entry_path(const std::string& folder, const std::string& source, const std::string& compiler, const std::string& arch) {
  return fmt::format("{}/{}", folder, Hash().add(source).add(compiler).add(arch + ", lines").hex());
}

}  // namespace

std::string default_cache() { return user_path(UserFolder::Cache, "kernels"); }

Result<std::string> find_compiler(Compiler wanted) {
  if (wanted == Compiler::Nvcc) return nvcc_version();
  auto nvrtc = nvrtc_version();
  if (nvrtc.ok() || wanted == Compiler::Nvrtc) return nvrtc;
  auto nvcc = nvcc_version();
  if (nvcc.ok()) return nvcc;
  return Error::environment(nvrtc.error().faults.front().message + "; " + nvcc.error().faults.front().message,
                            "install the CUDA toolkit, or name the library in HEDDLE_NVRTC or nvcc in HEDDLE_NVCC");
}

Result<Compiled> compile_cuda(const std::string& source, const CompileOptions& options) {
  const auto compiler = find_compiler(options.compiler);
  auto packed = options.cache.empty() ? std::nullopt : packed_in(path_named_by("HEDDLE_CUBINS"));
  if (packed && !read_entry(entry_path(packed->folder, source, packed->compiler, options.arch)).ok()) packed.reset();
  if (!packed && !compiler.ok() && !options.cache.empty()) packed = packed_in(library_file("cubins"));
  if (!compiler.ok() && !packed) return compiler.error();
  Compiled compiled;
  compiled.compiler = packed ? packed->compiler : *compiler;
  const std::string& cache = packed ? packed->folder : options.cache;
  const std::string path = cache.empty() ? "" : entry_path(cache, source, compiled.compiler, options.arch);
  if (!path.empty()) {
    if (auto entry = read_entry(path); entry.ok() && entry->source == source) {
      compiled.cubin = std::move(entry->cubin);
      compiled.log = std::move(entry->log);
      compiled.from_cache = true;
    }
  }
  if (packed && !compiled.from_cache) return compiler.error();
  if (!compiled.from_cache) {
    const Error stopped = Error::environment("the compiler was stopped");
    if (options.stop.stop_requested()) return stopped;
    const auto start = std::chrono::steady_clock::now();
    auto built = compiler->starts_with("NVRTC") ? build_with_nvrtc(source, options.arch, options.stop)
                                                : build_with_nvcc(source, options.arch, options.stop);
    if (options.stop.stop_requested() && !(built.ok() && built->good)) return stopped;
    if (!built.ok()) return built.error();
    compiled.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!built->good) {
      const std::string log = printable(std::string_view(built->log).substr(0, kLogShown), true);
      return Error::input(fmt::format("{} does not accept the kernel:\n{}", *compiler, log));
    }
    compiled.cubin = std::move(built->cubin);
    compiled.log = std::move(built->log);
    if (!path.empty()) write_entry(path, {source, compiled.log, compiled.cubin});
  }
  compiled.report = parse_ptxas_log(compiled.log);
  auto code = read_instructions(compiled.cubin);
  if (!code.ok()) {
    if (!compiled.from_cache) return code.error();
    CompileOptions fresh = options;  // somebody has been at the cache
    fresh.cache.clear();
    return compile_cuda(source, fresh);
  }
  compiled.code = std::move(*code);
  compiled.census = census_of(compiled.code);
  if (options.entries && !path.empty()) options.entries->push_back(path);
  return compiled;
}

}  // namespace heddle::codegen
