#include "app/jobs/package_job.h"

#include "core/base/text_style.h"

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
