// Runs the real program on the folders of tests/cli/cases. What lies in a folder:
//   args             the arguments, as for a shell, with $folder for the folder it runs in
//   expected_exit    the exit code
//   expected_stdout  what it prints there, line by line; <...> stands for any text within a line,
//   <folder> for the
//                    folder it runs in
//   expected_stderr  a text that has to be in standard error (optional)
//   may_change       why a failure leaves something behind all the same (optional)
//   prepare          commands to run before, one a line, with the program as `ringshard` (optional)
// Everything else is copied to the folder that it runs in. Of a case that fails the program must
// not have changed any file.

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cli/fleet.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

using namespace ringshard::testing;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// `pattern` with <...> for any text.
bool matches(const std::string& line, const std::string& pattern) {
  const std::string any = "<...>";
  std::size_t at = 0;
  std::size_t begin = 0;
  for (bool first = true;; first = false) {
    const std::size_t end = std::min(pattern.find(any, begin), pattern.size());
    const std::string piece = pattern.substr(begin, end - begin);
    if (end == pattern.size() && !first)
      return line.size() >= at + piece.size() && line.ends_with(piece);
    const std::size_t found = line.find(piece, at);
    if (found == std::string::npos || (first && found != 0)) return false;
    at = found + piece.size();
    if (end == pattern.size()) return at == line.size();
    begin = end + any.size();
  }
}

Ran run_shell(const std::string& arguments, const fs::path& folder,
              const TemporaryFolder& outputs) {
  const std::string command = "cd '" + folder.string() + "' && folder='" + folder.string() +
                              "' && { '" + ringshard_program().string() + "' " + arguments +
                              "\n} >'" + (outputs / "out").string() + "' 2>'" +
                              (outputs / "err").string() + "'";
  const int status = std::system(command.c_str());
  Ran ran;
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ran.out = replaced(read_file(outputs / "out"), folder.string(), "<folder>");
  ran.err = replaced(read_file(outputs / "err"), folder.string(), "<folder>");
  return ran;
}

std::string optional_file(const fs::path& path) { return fs::exists(path) ? read_file(path) : ""; }

void set_up(const fs::path& folder, const fs::path& case_folder, const TemporaryFolder& outputs) {
  for (const fs::path& common : {tests_folder() / "cli" / "common", case_folder})
    for (const auto& entry : fs::directory_iterator(common))
      fs::copy(entry.path(), folder / entry.path().filename(),
               fs::copy_options::overwrite_existing | fs::copy_options::recursive);
  for (const char* own :
       {"args", "expected_exit", "expected_stdout", "expected_stderr", "prepare", "may_change"})
    fs::remove(folder / own);
  for (const std::string& line : lines_of(optional_file(case_folder / "prepare"))) {
    const bool program = line.rfind("ringshard ", 0) == 0;
    const std::string arguments = program ? line.substr(10) : "--version && " + line;
    const Ran ran = run_shell(arguments, folder, outputs);
    INFO("prepare: " << line << "\n" << ran.out << ran.err);
    REQUIRE(ran.exit_code == 0);
  }
}

void check_lines(const std::string& out, const std::string& expected) {
  const auto found = lines_of(out);
  const auto patterns = lines_of(expected);
  for (std::size_t i = 0; i < std::min(found.size(), patterns.size()); ++i) {
    INFO("line " << i + 1 << "\nexpected " << patterns[i] << "\nfound    " << found[i]);
    CHECK(matches(found[i], patterns[i]));
  }
  CHECK(found.size() == patterns.size());
}

void check_case(const fs::path& case_folder) {
  const TemporaryFolder folder;
  const TemporaryFolder outputs;
  set_up(folder.path(), case_folder, outputs);
  const auto before = contents_of(folder.path());
  const Ran ran =
      run_shell(lines_of(read_file(case_folder / "args")).at(0), folder.path(), outputs);
  INFO(case_folder.filename().string() << "\n--- stdout\n" << ran.out << "--- stderr\n" << ran.err);
  CHECK(ran.exit_code == std::stoi(read_file(case_folder / "expected_exit")));
  check_lines(ran.out, optional_file(case_folder / "expected_stdout"));
  for (const std::string& part : lines_of(optional_file(case_folder / "expected_stderr")))
    CHECK(ran.err.find(part) != std::string::npos);
  if (ran.exit_code != 0 && !fs::exists(case_folder / "may_change"))
    CHECK(contents_of(folder.path()) == before);
}

}  // namespace

TEST_CASE("each case of tests/cli/cases prints and ends as it says") {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(tests_folder() / "cli" / "cases"))
    cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  REQUIRE(cases.size() > 20);
  for (const fs::path& one : cases) check_case(one);
}
