// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::report_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Two chips at two rates, without the files of the points.
const std::string kResults =
    "point,id,device,rate,repeat,seed,verdict,ttft_s.p99,output_tokens_per_joule\n"
    "0,a0,l4</script>,2 /s,0,1,valid,0.25,3.14159265\n"
    "1,a1,l4</script>,4 /s,0,1,valid,0.5,4\n"
    "2,a2,edge,2 /s,0,1,saturated,9,8\n";

}  // namespace

TEST_CASE("report writes one page with columns of the results, six digits each, beside them") {
  const Scratch scratch;
  scratch.file("out/results.csv", kResults);
  const Ran ran = run_program({"report", scratch.path("out"), "--max", "output_tokens_per_joule", "--min", "ttft.p99"});
  CHECK(ran.code == 0);
  CHECK(holds(ran.err, "points: warning: not there: the report has no scenarios"));
  const std::string page = scratch.content("out/report.html");
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(holds(page, "<title>out – llmscape report</title>"));
  CHECK(holds(page, R"("values":[3.14159,4,8])"));
  CHECK(holds(page, R"("texts":["2 /s","4 /s"],"numbers":[2,4],"of":[0,1,0])"));
  CHECK(holds(page, R"("verdicts":["valid","valid","saturated"])"));
  CHECK(holds(page, R"("group":"device")"));
  CHECK(holds(page, R"("l4\u003c/script>")"));  // no text of the results ends the element that they stand in
  CHECK_FALSE(holds(page, "l4</script>"));
  const Ran again =
      run_program({"report", scratch.path("out"), "--max", "output_tokens_per_joule", "--min", "ttft.p99", "-o", "-"});
  CHECK(again.out == page);
}

TEST_CASE("report --where shows those configurations alone, and says so") {
  const Scratch scratch;
  scratch.file("out/results.csv", kResults);
  const Ran ran = run_program({"report", scratch.path("out"), "--where", "rate <= 2 /s and device != edge", "-o", "-"});
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, R"("verdicts":["valid"])"));
  CHECK(holds(ran.out, R"("configurations where":"rate \u003c= 2 /s and device != edge")"));
  const Ran none = run_program({"report", scratch.path("out"), "--where", "rate > 9 /s", "-o", "-"});
  CHECK(none.code == 2);
  CHECK(holds(none.err, "no configuration of the sweep is so"));
  const Ran wrong = run_program({"report", scratch.path("out"), "--where", "rat > 9 /s", "-o", "-"});
  CHECK(wrong.code == 2);
  CHECK(holds(wrong.err, "'rate'"));
}

TEST_CASE("what --slo and the plan say is where the sliders stand") {
  const Scratch scratch;
  scratch.file("out/results.csv", kResults);
  scratch.file("out/plan.yaml", "schema: sweep/1\nslo: 'ttft.p99 <= 300 ms and ttft.p99 * 2 <= 1 s'\n");
  const Ran planned = run_program({"report", scratch.path("out"), "-o", "-"});
  CHECK(planned.code == 0);
  CHECK(holds(planned.out, R"("limits":[{"name":"ttft_s.p99","bound":0.3,"below":true}])"));
  CHECK(holds(planned.err, "'ttft.p99 * 2 <= 1 s' is no limit that a slider can stand at"));
  const Ran typed =
      run_program({"report", scratch.path("out"), "-o", "-", "--slo", "ttft.p99<=0.1s,output_tokens_per_joule>=2"});
  CHECK(holds(typed.out, R"({"name":"output_tokens_per_joule","bound":2.0,"below":false}])"));
}

TEST_CASE("a limit is taken however it is written; one without its bound is drawn with it, and that is said") {
  const Scratch scratch;
  scratch.file("out/results.csv", kResults);
  scratch.file("out/plan.yaml", "schema: sweep/1\nslo: 'ttft.p99 < 300 ms'\n");
  const std::string limit = R"("limits":[{"name":"ttft_s.p99","bound":0.3,"below":true}])";
  const Ran planned = run_program({"report", scratch.path("out"), "-o", "-"});
  CHECK(planned.code == 0);
  CHECK(holds(planned.out, limit));
  CHECK(holds(planned.err, "warning: 'ttft.p99 < 300 ms' is drawn as <="));
  for (const char* slo : {"3e-1 s >= ttft.p99", "ttft_s.p99<=300ms"}) {
    const Ran typed = run_program({"report", scratch.path("out"), "-o", "-", "--slo", slo});
    CHECK(holds(typed.out, limit));
    CHECK_FALSE(holds(typed.err, "drawn as"));
  }
}

TEST_CASE("objectives beyond the two of a plot and points that failed are told, on stderr and on the page") {
  const Scratch scratch;
  scratch.file("out/results.csv",
               "point,id,device,repeat,seed,verdict,ttft_s.p99,output_tokens_per_joule,mean_w\n"
               "0,a0,l4,0,1,valid,0.25,3,70\n"
               "1,a1,l4,0,2,valid,0.5,4,80\n");
  scratch.file("out/failed/0123456789abcdef0123456789abcdef.log", "x");
  const Ran ran = run_program(
      {"report", scratch.path("out"), "-o", "-", "--max", "output_tokens_per_joule", "--min", "ttft.p99,mean_w"});
  CHECK(ran.code == 0);
  CHECK(holds(ran.err,
              "warning: the page opens with the first two objectives: its frontiers and sentences leave out "
              "'mean_w'"));
  CHECK(holds(ran.err, "warning: A point of the sweep failed and is not looked at: see failed/"));
  CHECK(holds(ran.out, R"("left_out":[{"name":"mean_w","better":"lower"}])"));
  CHECK(holds(ran.out, R"({"name":"objectives: mean_w","text":)"));
  CHECK(holds(ran.out, R"("failed":"A point of the sweep failed)"));
}

TEST_CASE("a limit or an objective that no run has is said: typed ones are errors, those of the plan warnings") {
  const Scratch scratch;
  scratch.file("out/results.csv", kResults);
  const Ran limit = run_program({"report", scratch.path("out"), "-o", "-", "--slo", "ttft.p99<=1 s,goodput_rps>=1/s"});
  CHECK(limit.code == 2);
  CHECK(holds(limit.err, "'goodput_rps>=1/s' is met by no configuration: none has 'goodput_rps'"));
  const Ran objective =
      run_program({"report", scratch.path("out"), "-o", "-", "--max", "goodput_rps", "--min", "ttft.p99"});
  CHECK(objective.code == 2);
  CHECK(holds(objective.err, "no configuration has 'goodput_rps'"));
  scratch.file(
      "out/plan.yaml",
      "schema: sweep/1\nslo: 'goodput_rps >= 1 /s'\nobjectives: {maximize: [goodput_rps], minimize: [ttft.p99]}\n");
  const Ran planned = run_program({"report", scratch.path("out"), "-o", "-"});
  CHECK(planned.code == 0);
  CHECK(holds(planned.err, "warning: 'goodput_rps >= 1 /s' is met by no configuration"));
  CHECK(holds(planned.err, "no configuration has 'goodput_rps': the page opens with other objectives"));
  CHECK(holds(planned.out, R"("limits":[])"));
}

TEST_CASE("all that report is asked for in vain is said at once, and nothing is written") {
  const Scratch scratch;
  scratch.file("out/results.csv", kResults);
  const Ran ran = run_program(
      {"report", scratch.path("out"), "--max", "ttfp.p99", "--min", "ttft.p99", "--group", "devise", "--slo", "soon"});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "'ttfp.p99' is neither a metric nor an axis"));
  CHECK(holds(ran.err, "there is no axis 'devise'"));
  CHECK(holds(ran.err, "did you mean 'device'?"));
  CHECK(holds(ran.err, "'soon' is no limit"));
  CHECK(scratch.content("out/report.html").empty());
}

}  // namespace llmscape::test::report_test
