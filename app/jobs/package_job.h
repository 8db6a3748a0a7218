// The shown kernel as a package: written with sizes at run time where they can be, whatever the text in the tab has.
#pragma once

#include <string>
#include <vector>

#include "app/jobs/kernel_job.h"
#include "codegen/package/folder.h"

namespace heddle::app {

/// Values for the sizes that `given` leaves open, with which one text serves all sizes (sizes_with_all() in
/// codegen/program/run_time_sizes.h). Faults of `given`.
Result<Scope> general_sizes(const Kernel& kernel, const Scope& given);

struct MadePackage {
  std::vector<codegen::PackageFile> files;
  std::string call;  ///< as its README.md shows it
};

/// An input error where the kernel cannot be written so, or is one for tests: with a number of trips, or with clock readings.
Result<MadePackage> make_package(const KernelText& text, codegen::PackageFormat format, const std::string& command);

}  // namespace heddle::app
