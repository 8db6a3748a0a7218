// A project as a source (core/library/project_json.h): it names kernel and machine, and the schedule that it shows is its own.
#pragma once

#include <string>
#include <vector>

#include "core/base/lazy.h"
#include "core/library/project_json.h"
#include "core/library/source.h"

namespace heddle {

class ProjectFile final : public Source {
 public:
  explicit ProjectFile(std::string words) : Source(SourceKind::Project, std::move(words)) {}

  /// Read once; warnings come with every call.
  const Result<Project>& read(std::vector<Fault>* warnings = nullptr) const;

  bool names_machine() const override { return true; }
  Result<Kernel> kernel(std::vector<Fault>* warnings) const override;
  Result<Machine> machine(std::vector<Fault>* warnings) const override;
  const ProjectFile* project() const override { return this; }

 private:
  struct Reading {
    Result<Project> project;
    std::vector<Fault> warnings;
  };
  Lazy<Reading> reading_;
};

}  // namespace heddle
