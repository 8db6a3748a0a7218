#include "app/jobs/package_job.h"

#include "codegen/program/run_time_sizes.h"
#include "core/base/text_style.h"
#include "core/kernel/execute.h"
#include "core/kernel/switches.h"

namespace heddle::app {
namespace {

/// The first piece of code of a page.
std::string first_code(const std::string& page) {
  const std::size_t fence = page.find("\n```");
  const std::size_t begin = fence == std::string::npos ? fence : page.find('\n', fence + 1);
  const std::size_t end = begin == std::string::npos ? begin : page.find("\n```", begin);
  return end == std::string::npos ? std::string() : page.substr(begin + 1, end - begin - 1);
}

}  // namespace

Result<Scope> general_sizes(const Kernel& kernel, const Scope& given) {
  const Result<Scope> scope = parameter_scope(as_in_file(kernel), given, false);
  if (!scope) return scope;
  const Result<Kernel> now = settled(kernel, *scope);
  if (!now) return now.error();
  Scope sizes = codegen::sizes_with_all(*now, *scope);
  std::erase_if(sizes, [&](const auto& size) { return given.contains(size.first); });
  return sizes;
}

Result<MadePackage> make_package(const KernelText& text, codegen::PackageFormat format, const std::string& command) {
  const KernelSubject& of = text.of;
  if (of.options.trips || of.options.records != codegen::Recording::None)
    return Error::input("the kernel is written for tests: with a number of trips, or with clock readings", "take these options back first");
  const WrittenKernel kernel = written_for_most_sizes({*of.spec.kernel, *of.problem, *of.schedule}, text.build);
  if (!kernel.emission) return Error::input(printable(kernel.refusals.front().sentence));
  codegen::PackageSubject subject{*of.spec.kernel, *of.problem, *of.schedule, *kernel.program, *kernel.emission, command};
  subject.why_fixed_sizes = kernel.why_fixed_sizes;
  MadePackage made;
  made.files = codegen::package_files(format, subject);
  for (const codegen::PackageFile& file : made.files)
    if (file.path == "README.md") made.call = first_code(file.text);
  return made;
}

}  // namespace heddle::app
