#include "core/library/project_file.h"

namespace heddle {

const Result<Project>& ProjectFile::read(std::vector<Fault>* warnings) const {
  const Reading& reading = reading_.get([&] {
    std::vector<Fault> found;
    Result<Project> project = read_project(name(), &found);
    return Reading{std::move(project), std::move(found)};
  });
  if (warnings) warnings->insert(warnings->end(), reading.warnings.begin(), reading.warnings.end());
  return reading.project;
}

Result<Kernel> ProjectFile::kernel(std::vector<Fault>* warnings) const {
  const Result<Project>& project = read(warnings);
  return project ? Result<Kernel>(*project->spec.kernel) : project.error();
}

Result<Machine> ProjectFile::machine(std::vector<Fault>* warnings) const {
  const Result<Project>& project = read(warnings);
  return project ? Result<Machine>(*project->spec.machine) : project.error();
}

}  // namespace heddle
