// Files as the session sees them: told apart by their "schema" key.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle::app {

enum class FileKind { Kernel, Machine, Schedule, Constraints, Project, Measurement, Launch, Compilers, Unknown };

/// By the "schema" key, whatever the major version (the reader of that kind judges it); what compilers write by what is in it: their
/// kernels (core/library/source.h), and schedules of their solvers. Unknown: JSON, but none of these.
Result<FileKind> classify_file(const std::string& path);

/// A kernel that ships with Heddle, by its name, also cut; no file here is called so.
bool is_shipped_kernel(const std::string& name);

/// The last part of a path.
std::string base_name(const std::string& path);

/// What is typed of a path, as far as the files there are leave no choice; a folder ends in "/".
std::string completed_path(const std::string& typed);

/// The shipped machines that can run the kernel with these parameters, the usual one first.
std::vector<std::string> machines_for(const Kernel& kernel, const Scope& overrides = {});
/// The same of a shipped kernel by its name; looked up once. Of the thread that draws.
const std::vector<std::string>& machines_for_shipped(const std::string& kernel);

}  // namespace heddle::app
