// A package on its way to the disk: which files, and into which folder.
#pragma once

#include <string>
#include <vector>

#include "codegen/package/package.h"
#include "core/base/result.h"

namespace heddle::codegen {

enum class PackageFormat { Cuda, Torch };

std::vector<PackageFile> package_files(PackageFormat format, const PackageSubject& subject);

/// Whether a package may be written there: the folder does not exist, is empty, or holds a package already. With `force` any folder will
/// do.
Result<Ok> check_package_folder(const std::string& folder, bool force);

/// Each file complete or not at all; folders are made. Files that a package there had are replaced, others stay: where one has the name of
/// a file of this package, that is an input error, unless `force` says to replace it too. Errors as check_package_folder() and
/// write_file().
Result<Ok> write_package(const std::vector<PackageFile>& files, const std::string& folder, bool force);

}  // namespace heddle::codegen
