# Draws every scene of quern-desktop in one theme and checks the pictures.
# PROGRAM, THEME, FOLDER: what to run, how, and where to put the pictures.
cmake_minimum_required(VERSION 3.25)
set(scenes chat chat-empty chat-no-model chat-loading chat-writing chat-thinking chat-thought chat-call
    chat-queued chat-error chat-full chat-not-saved chat-long
    models models-empty models-load monitor monitor-idle server server-off settings)
file(MAKE_DIRECTORY ${FOLDER})
set(ENV{XDG_RUNTIME_DIR} ${FOLDER})

function(shoot scene file)
  execute_process(
    COMMAND ${PROGRAM} --demo ${scene} --shot ${file} --theme ${THEME} ${ARGN}
    RESULT_VARIABLE status ERROR_VARIABLE said)
  string(STRIP "${said}" said)
  # Qt's own remark on a runtime folder with other permissions than it likes is not QML's.
  string(REGEX REPLACE "QStandardPaths:[^\n]*\n?" "" said "${said}")
  if(NOT status EQUAL 0 OR said)
    message(SEND_ERROR "${scene} ${ARGN}: exit ${status}\n${said}")
  endif()
endfunction()

# Bytes 16 to 24 of a PNG are its width and height.
function(expect_size file want)
  file(READ ${file} size OFFSET 16 LIMIT 8 HEX)
  if(NOT size STREQUAL want)
    message(SEND_ERROR "${file}: width and height are ${size}, not ${want}")
  endif()
endfunction()

set(hashes "")
foreach(scene ${scenes})
  set(file ${FOLDER}/${scene}-${THEME}.png)
  shoot(${scene} ${file} --size 1280x800)
  expect_size(${file} 0000050000000320)
  file(SIZE ${file} bytes)
  if(bytes LESS 10000)
    message(SEND_ERROR "${file}: ${bytes} bytes are too few for a screen with something on it")
  endif()
  file(SHA256 ${file} hash)
  if(hash IN_LIST hashes)
    message(SEND_ERROR "${scene} looks like another scene")
  endif()
  list(APPEND hashes ${hash})
endforeach()

# The same pixels from run to run.
foreach(scene chat monitor)
  shoot(${scene} ${FOLDER}/again-${THEME}.png --size 1280x800)
  file(SHA256 ${FOLDER}/${scene}-${THEME}.png first)
  file(SHA256 ${FOLDER}/again-${THEME}.png second)
  if(NOT first STREQUAL second)
    message(SEND_ERROR "${scene}: two runs gave two pictures")
  endif()
endforeach()

# Theme, text size and language are seen.
if(THEME STREQUAL light)
  set(other dark)
else()
  set(other light)
endif()
file(SHA256 ${FOLDER}/chat-${THEME}.png plain)
foreach(change "--theme;${other}" "--text;150" "--lang;en_XA")
  shoot(chat ${FOLDER}/changed-${THEME}.png --size 1280x800 ${change})
  file(SHA256 ${FOLDER}/changed-${THEME}.png changed)
  if(changed STREQUAL plain)
    message(SEND_ERROR "chat: ${change} changes nothing")
  endif()
endforeach()

# The smallest window, the largest text and the pseudo-locale, where words have least room.
foreach(scene chat-full chat-not-saved chat-long chat-thought chat-call models-load monitor server settings)
  shoot(${scene} ${FOLDER}/${scene}-small-${THEME}.png --size 960x600 --text 150 --lang en_XA)
  expect_size(${FOLDER}/${scene}-small-${THEME}.png 000003c000000258)
endforeach()
