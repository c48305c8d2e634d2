; Mezzotint.exe: finds the Python for the bootstrap or gets one, and starts the window without a console.
Unicode true
Target amd64-unicode
Name "Mezzotint"
OutFile "${PRODUCT}"
Icon "mezzotint.ico"
RequestExecutionLevel user
ManifestDPIAware true
SilentInstall silent
SetCompressor lzma
VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "Mezzotint"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "Apache-2.0"
VIAddVersionKey "FileDescription" "Mezzotint"
!include LogicLib.nsh
!include FileFunc.nsh

LoadLanguageFile "${NSISDIR}\Contrib\Language files\English.nlf"
LoadLanguageFile "${NSISDIR}\Contrib\Language files\German.nlf"
LangString getting ${LANG_ENGLISH} "Getting Python ${PYTHON}, which Mezzotint runs on. This happens once."
LangString getting ${LANG_GERMAN} "Python ${PYTHON}, auf dem Mezzotint läuft, wird geholt. Das geschieht einmal."
LangString failed ${LANG_ENGLISH} "Python ${PYTHON} could not be downloaded. Check the connection, then start Mezzotint again.$\r$\n$\r$\n"
LangString failed ${LANG_GERMAN} "Python ${PYTHON} konnte nicht heruntergeladen werden. Prüfen Sie die Verbindung und starten Sie Mezzotint erneut.$\r$\n$\r$\n"

!macro SetVariable name value
  System::Call 'kernel32::SetEnvironmentVariable(t "${name}", t "${value}")'
!macroend

Var python
Var said

; Sets $python, or leaves it empty.
!macro FindPython
  nsExec::ExecToStack '"$EXEDIR\uv.exe" python find -q --managed-python --no-project ${PYTHON}'
  Pop $0
  Pop $python
  ${If} $0 == 0
    ${GetParent} $python $python
  ${Else}
    StrCpy $python ""
  ${EndIf}
!macroend

Section
  ReadEnvStr $1 MEZZOTINT_ENGINE_ROOT
  StrCpy $2 "$LOCALAPPDATA\mezzotint\engine\python"
  ${If} $1 != ""
    StrCpy $2 "$1\python"
  ${EndIf}
  !insertmacro SetVariable UV_PYTHON_INSTALL_DIR $2
  !insertmacro SetVariable UV_NO_CONFIG 1
  !insertmacro SetVariable UV_SYSTEM_CERTS 1
  !insertmacro FindPython
  ${If} $python == ""
    Banner::show /NOUNLOAD "$(getting)"
    nsExec::ExecToStack '"$EXEDIR\uv.exe" python install -q --no-bin --no-registry ${PYTHON}'
    Pop $0
    Pop $said
    Banner::destroy
    !insertmacro FindPython
  ${EndIf}
  ${If} $python == ""
    MessageBox MB_OK|MB_ICONSTOP "$(failed)$said"
    SetErrorLevel 1
    Quit
  ${EndIf}
  !insertmacro SetVariable MEZZOTINT_SETUP_PAYLOAD $EXEDIR
  !insertmacro SetVariable MEZZOTINT_SETUP_PYTHON "$python\python.exe"
  !insertmacro SetVariable PYTHONPATH $EXEDIR
  !insertmacro SetVariable PYTHONSAFEPATH 1
  !insertmacro SetVariable PYTHONDONTWRITEBYTECODE 1
  ${GetParameters} $R0
  Exec '"$python\pythonw.exe" -m mezzotint_setup start $R0'
SectionEnd
