// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/unit/traces/trace_folder.hpp"

using namespace llmscape;
using namespace llmscape::traces;

// Files as the descriptions of their formats, named at the head of each reader, have them.
namespace {

std::vector<TraceRecord> read_good(const std::string& path, std::string_view format) {
  Diagnostics diagnostics;
  auto records = read_all(path, format, diagnostics);
  INFO(diagnostics.text(false));
  REQUIRE_FALSE(diagnostics.has_errors());
  return records;
}

std::string attribute(const std::string& key, const std::string& value) {
  return R"({"key": ")" + key + R"(", "value": )" + value + "}";
}

}  // namespace

TEST_CASE("runs of an agent stand one behind the other, each with one content that grows") {
  const TraceFolder folder;
  const auto records = read_good(folder.write("agent.csv",
                                              "session,session_id,call,t_s,gap_s,in_chars,new_in_chars,out_chars,"
                                              "ctx_chars,ctx_tokens_est,out_tokens_est,reusable_frac\n"
                                              "1,aa,0,0.000,,5561,5561,368,5561,1390,92,0.0000\n"
                                              "1,aa,1,2.334,2.334,5608,47,868,5976,1494,217,0.9921\n"
                                              "2,bb,0,0.000,,400,400,40,400,100,10,0.0000\n"),
                                 "");
  REQUIRE(records.size() == 3);
  REQUIRE(records[1].prompt.size() == 1);
  CHECK(records[1].prompt[0] == Segment{records[0].prompt[0].id, 1494});
  CHECK(records[1].arrival == Seconds(2.334));
  CHECK(records[2].arrival == Seconds(2.334));
  CHECK(records[2].prompt[0].id != records[0].prompt[0].id);
  CHECK(records[2].session == "bb");
  CHECK(records[0].output_tokens == 92);
}

TEST_CASE("spans of model calls are read by their start, those of agents and tools are not") {
  const TraceFolder folder;
  const std::string usage = attribute("gen_ai.usage.input_tokens", R"({"intValue": "1200"})") + ", " +
                            attribute("gen_ai.usage.output_tokens", R"({"intValue": 80})");
  const auto span = [](const std::string& start, const std::string& attributes) {
    return R"({"traceId": "5b8aa5a2d2c872e8321cf37308d69df2", "spanId": ")" + start +
           R"(", "name": "chat", "kind": 3, "startTimeUnixNano": ")" + start +
           R"(", "endTimeUnixNano": "1544712669000000000", "attributes": [)" + attributes + "]}";
  };
  const auto request = [](const std::string& spans) {
    return R"({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": [)" +
           spans + "]}]}]}\n";
  };
  const auto records = read_good(
      folder.write(
          "spans.jsonl",
          request(span("1544712662500000000", attribute("gen_ai.operation.name", R"({"stringValue": "chat"})") + ", " +
                                                  attribute("gen_ai.conversation.id", R"({"stringValue": "c1"})") +
                                                  ", " + usage) +
                  ", " +
                  span("1544712660000000000",
                       attribute("gen_ai.operation.name", R"({"stringValue": "invoke_agent"})") + ", " + usage)) +
              R"({"resourceSpans": []})" + "\n" +
              request(
                  span("1544712660500000000", attribute("gen_ai.usage.prompt_tokens", R"({"intValue": "7"})") + ", " +
                                                  attribute("gen_ai.usage.completion_tokens", R"({"intValue": "5"})")) +
                  ", " + span("1544712660700000000", ""))),
      "");
  REQUIRE(records.size() == 2);
  CHECK(records[0].prompt_tokens == 7);  // as vLLM names them; written later, begun earlier
  CHECK(records[0].output_tokens == 5);
  CHECK(records[0].session == "5b8aa5a2d2c872e8321cf37308d69df2");
  CHECK(records[1].arrival == Seconds(2));
  CHECK(records[1].prompt_tokens == 1200);
  CHECK(records[1].output_tokens == 80);
  CHECK(records[1].session == "c1");
  CHECK_FALSE(records[1].known_content);
}

TEST_CASE("a call that client and server both trace is one call, the inner of both") {
  const TraceFolder folder;
  const auto span = [](const std::string& id, const std::string& parent, int start, const std::string& operation,
                       const std::string& more) {
    return R"({"traceId": "t", "spanId": ")" + id + R"(", "parentSpanId": ")" + parent +
           R"(", "startTimeUnixNano": ")" + std::to_string(start) + R"(000000000", "attributes": [)" +
           (operation.empty() ? ""
                              : attribute("gen_ai.operation.name", "{\"stringValue\": \"" + operation + "\"}") + ", ") +
           attribute("gen_ai.usage.input_tokens", R"({"intValue": "9"})") + ", " +
           attribute("gen_ai.usage.output_tokens", R"({"intValue": "5"})") + more + "]}";
  };
  const auto line = [](const std::string& spans) {
    return R"({"resourceSpans": [{"scopeSpans": [{"spans": [)" + spans + "]}]}]}\n";
  };
  const std::string conversation = ", " + attribute("gen_ai.conversation.id", R"({"stringValue": "c"})");
  // Spans are written when they end, so the server's comes first; a transport stands between both. Another call of
  // the client has no other side, and a tool that it ran asked a model again.
  const auto records = read_good(
      folder.write("both.jsonl",
                   line(span("s1", "h1", 11, "", "")) + line(span("s2", "c2", 21, "llm_request", "")) +
                       line(R"({"traceId": "t", "spanId": "h1", "parentSpanId": "c1"})") +
                       line(span("c1", "", 10, "chat", conversation) + ", " + span("c2", "", 20, "chat", "") + ", " +
                            span("c3", "", 30, "chat", "") + ", " + span("x3", "c3", 31, "execute_tool", "") + ", " +
                            span("c4", "x3", 32, "chat", ""))),
      "");
  REQUIRE(records.size() == 4);
  CHECK(records[0].arrival == Seconds(0));
  CHECK(records[0].session == "c");  // only the client knows
  CHECK(records[1].arrival == Seconds(10));
  CHECK(records[1].session == "t");
  CHECK(records[2].arrival == Seconds(19));
  CHECK(records[3].arrival == Seconds(21));
}

TEST_CASE("a span that is exported twice is one call, and a call that failed is told and not served") {
  const TraceFolder folder;
  const auto span = [](const std::string& id, const std::string& parent, int start, const std::string& code,
                       const std::string& output) {
    return R"({"traceId": "t", "spanId": ")" + id + R"(", "parentSpanId": ")" + parent +
           R"(", "startTimeUnixNano": ")" + std::to_string(start) + R"(000000000", "attributes": [)" +
           attribute("gen_ai.operation.name", R"({"stringValue": "chat"})") + ", " +
           attribute("gen_ai.usage.input_tokens", R"({"intValue": 9})") +
           (output.empty() ? "" : ", " + attribute("gen_ai.usage.output_tokens", "{\"intValue\": " + output + "}")) +
           "]" + (code.empty() ? "" : R"(, "status": {"code": )" + code + "}") + "}";
  };
  const auto line = [](const std::string& spans) {
    return R"({"resourceSpans": [{"scopeSpans": [{"spans": [)" + spans + "]}]}]}\n";
  };
  // `a` comes again in the next export, `b` was first written before its end. `d` failed with what it had counted, `e`
  // with no answer, `f` before it counted anything. `g` was given up by its client, the server inside it answered; `h`
  // was answered at the second attempt. So 5 calls were answered (a, b, k, i2, m) and 3 failed.
  const std::string path = folder.write(
      "again.jsonl", line(span("a", "", 10, "1", "5") + ", " + span("b", "", 11, "", "")) +
                         line(span("a", "", 10, "1", "5") + ", " + span("b", "", 11, "0", "6")) +
                         line(span("d", "", 12, "2", "7") + ", " + span("e", "", 13, R"("STATUS_CODE_ERROR")", "0") +
                              ", " + span("f", "", 14, "2", "") + ", " + span("d", "", 12, "2", "7")) +
                         line(span("g", "", 15, "2", "8") + ", " + span("k", "g", 16, "1", "8")) +
                         line(span("h", "", 17, "1", "9") + ", " + span("i1", "h", 18, "2", "3") + ", " +
                              span("i2", "h", 19, "1", "9") + ", " + span("m", "", 20, "", "4")));
  Diagnostics diagnostics;
  const auto records = read_all(path, "", diagnostics);
  REQUIRE(records.size() == 5);
  const std::vector<double> arrivals = {0, 1, 6, 9, 10};
  const std::vector<std::int64_t> answers = {5, 6, 8, 9, 4};
  for (std::size_t i = 0; i < records.size(); ++i) {
    CHECK(records[i].arrival == Seconds(arrivals[i]));
    CHECK(records[i].output_tokens == answers[i]);
  }
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(diagnostics.text(false).find("warning: 3 of 8 calls failed (status ERROR) and are not in the trace") !=
        std::string::npos);
}

TEST_CASE("a load trace of Dynamo says its block by its ids, and later turns by their delay") {
  const TraceFolder folder;
  const auto records = read_good(
      folder.write(
          "load.jsonl",
          R"({"session_id": "a", "timestamp": 1000, "input_length": 100, "output_length": 5, "hash_ids": [1, 2]})"
          "\n"
          R"({"session_id": "a", "delay": 500, "input_length": 130, "output_length": 6, "hash_ids": [1, 2, 3]})"
          "\n"
          R"({"session_id": "b", "timestamp": 1200, "input_length": 9, "output_length": 7, "hash_ids": [4]})"),
      "");
  REQUIRE(records.size() == 3);
  CHECK(records[0].prompt == Prompt{{1, 64}, {2, 36}});
  CHECK(records[1].prompt == Prompt{{4, 9}});  // arrives before the second turn of a
  CHECK(records[1].arrival == Seconds(0.2));
  CHECK(records[2].prompt == Prompt{{1, 64}, {2, 64}, {3, 2}});
  CHECK(records[2].arrival == Seconds(0.5));
  CHECK(records[2].session == "a");
}

TEST_CASE("records of Dynamo's frontend are its requests that ended, with contents where it kept their hashes") {
  const TraceFolder folder;
  const std::string head = R"({"timestamp": 1, "event": {"schema": "dynamo.agent.trace.v1", "event_type": ")";
  const auto records = read_good(
      folder.write(
          "frontend.jsonl",
          head + R"(tool_start", "tool": {"tool_call_id": "x"}}})" + "\n" + head +
              R"(request_end", "agent_context": {"session_id": "s"}, "request": {"request_id": "r", )"
              R"("input_tokens": 70, "output_tokens": 5, "request_received_ms": 1777312800000, )"
              R"("replay": {"trace_block_size": 64, "input_length": 70, "input_sequence_hashes": [11, 12]}}}})" +
              "\n" + head +
              R"(request_end", "request": {"input_tokens": 8, "output_tokens": 9, )"
              R"("request_received_ms": 1777312800250}}})" +
              "\n"),
      "");
  REQUIRE(records.size() == 2);
  CHECK(records[0].prompt == Prompt{{11, 64}, {12, 6}});
  CHECK(records[0].session == "s");
  CHECK(records[1].arrival == Seconds(0.25));
  CHECK_FALSE(records[1].known_content);
}

TEST_CASE("WEKA's conversations share blocks inside themselves, and their sub-agents have times of their own") {
  const TraceFolder folder;
  const std::string requests =
      R"("requests": [{"t": 0.0, "type": "s", "model": "m", "in": 130, "out": 9, "hash_ids": [1, 2], "stop": "x"}, )"
      R"({"t": 10.5, "type": "subagent", "agent_id": "g", "status": "completed", "requests": [)"
      R"({"t": 0.5, "type": "n", "in": 64, "out": 3, "hash_ids": [1]}]}, )"
      R"({"t": 20, "type": "s", "in": 192, "out": 4, "hash_ids": [1, 2, 3], "api_time": 3.2}]})";
  const auto records =
      read_good(folder.write("traces.jsonl", R"({"id": "one", "block_size": 64, "models": ["m"], )" + requests + "\n" +
                                                 R"({"id": "two", "hash_id_scope": "local", )" + requests + "\n" +
                                                 R"({"id": "three", "hash_id_scope": "global", )" + requests),
                "");
  REQUIRE(records.size() == 9);
  CHECK(records[0].session == "one");
  REQUIRE(records[0].prompt.size() == 3);
  CHECK(records[0].prompt[2].tokens == 2);  // what two blocks of 64 leave of 130 tokens
  CHECK(records[1].prompt[0].id != records[0].prompt[0].id);
  CHECK(records[2].prompt[0] == Segment{1, 64});
  CHECK(records[3].session == "one/g");
  CHECK(records[3].arrival == Seconds(11));
  CHECK(records[3].prompt[0] == records[0].prompt[0]);
  CHECK(records[6].arrival == Seconds(20));
  CHECK(records[6].prompt[1] == records[0].prompt[1]);
}
