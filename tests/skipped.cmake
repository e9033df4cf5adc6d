# hpcml_skipped_test(NAME REASON): a test that cannot run here is shown as skipped, with its reason, instead of being left out.
function(hpcml_skipped_test NAME REASON)
  add_test(NAME ${NAME} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/skipped.sh ${NAME} ${REASON})
  set_tests_properties(${NAME} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
