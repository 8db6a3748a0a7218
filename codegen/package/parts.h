// What the writers of a package's files share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/package/package.h"
#include "codegen/package/templates.h"

namespace heddle::codegen {

/// A size that the caller chooses.
struct PackageSize {
  std::string name;        ///< as in formulas, and member of heddle_K_sizes
  std::int64_t value = 0;  ///< at which the kernel was made
  std::string about;
};

/// A number that the caller may choose, of the launch plan's scalars.
struct PackageScalar {
  std::string name;     ///< member of heddle_K_sizes
  double standard = 1;  ///< what 0 stands for
};

struct PackageParts {
  const PackageSubject& subject;
  std::string name;   ///< package_name()
  std::string upper;  ///< the same in capitals
  std::string title;  ///< of one line, for comments
  std::string gpus;   ///< " (H100, H200)"
  std::vector<PackageTensor> tensors;
  std::vector<PackageSize> sizes;  ///< none: all are fixed
  std::vector<PackageScalar> scalars;

  const LaunchPlan& launch() const { return subject.emission.launch; }
  /// K, U, TITLE, ARCH and EXAMPLES, which every text has.
  Blanks blanks() const;
};

PackageParts package_parts(const PackageSubject& subject);

std::string interface_text(const PackageParts& parts);
std::string host_text(const PackageParts& parts);
std::string example_text(const PackageParts& parts);
std::string readme_text(const PackageParts& parts);

/// Definitions of ceil_div, min and max, as far as one of the formulas calls them.
std::string formula_helpers(const std::vector<std::string>& formulas);
/// What must hold of the sizes that a call chooses, each sentence once.
std::vector<std::string> condition_sentences(const PackageParts& parts);

}  // namespace heddle::codegen
