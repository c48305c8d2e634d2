; The installer: for one user, without administrator rights.
Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
SetDateSave off
Name "Mezzotint"
OutFile "${PRODUCT}"
InstallDir "$LOCALAPPDATA\Programs\Mezzotint"
InstallDirRegKey HKCU "Software\Mezzotint" "Folder"
RequestExecutionLevel user
ManifestDPIAware true
VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "Mezzotint"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "Apache-2.0"
VIAddVersionKey "FileDescription" "Mezzotint setup"

!include MUI2.nsh
!include FileFunc.nsh
!include WinVer.nsh
!define MUI_ICON "mezzotint.ico"
!define MUI_UNICON "mezzotint.ico"
!define MUI_FINISHPAGE_RUN "$INSTDIR\Mezzotint.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"

LangString desktop ${LANG_ENGLISH} "Shortcut on the desktop"
LangString desktop ${LANG_GERMAN} "Verknüpfung auf dem Desktop"
LangString program ${LANG_ENGLISH} "The program, and the environments that it has made"
LangString program ${LANG_GERMAN} "Das Programm und die Umgebungen, die es angelegt hat"
LangString settings ${LANG_ENGLISH} "Also settings, queue and caches"
LangString settings ${LANG_GERMAN} "Auch Einstellungen, Warteschlange und Zwischenspeicher"
LangString models ${LANG_ENGLISH} "Also the folder of models"
LangString models ${LANG_GERMAN} "Auch der Ordner der Modelle"
LangString job ${LANG_ENGLISH} "Mezzotint job"
LangString job ${LANG_GERMAN} "Mezzotint-Auftrag"
LangString old ${LANG_ENGLISH} "Mezzotint needs Windows 10 or newer, 64 bits."
LangString old ${LANG_GERMAN} "Mezzotint braucht Windows 10 oder neuer, 64 Bit."

!define REMOVAL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Mezzotint"
!define CLASSES "Software\Classes"
!define DATA "$LOCALAPPDATA\mezzotint"

Function .onInit
  ${IfNot} ${AtLeastWin10}
    MessageBox MB_OK|MB_ICONSTOP "$(old)" /SD IDOK
    SetErrorLevel 2
    Quit
  ${EndIf}
FunctionEnd

!macro OpenWith suffix
  WriteRegStr HKCU "${CLASSES}\Applications\Mezzotint.exe\SupportedTypes" "${suffix}" ""
!macroend

!macro RemovePayload
  RMDir /r "$INSTDIR\wheels"
  RMDir /r "$INSTDIR\locks"
  RMDir /r "$INSTDIR\mezzotint_setup"
!macroend

Section "Mezzotint"
  SectionIn RO
  !insertmacro RemovePayload ; of the version before
  SetOutPath "$INSTDIR"
  File /r "payload\*.*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Mezzotint.lnk" "$INSTDIR\Mezzotint.exe"
  WriteRegStr HKCU "Software\Mezzotint" "Folder" "$INSTDIR"
  WriteRegStr HKCU "${REMOVAL}" "DisplayName" "Mezzotint"
  WriteRegStr HKCU "${REMOVAL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${REMOVAL}" "DisplayIcon" "$INSTDIR\Mezzotint.exe"
  WriteRegStr HKCU "${REMOVAL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${REMOVAL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${REMOVAL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${REMOVAL}" "NoModify" 1
  WriteRegDWORD HKCU "${REMOVAL}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${REMOVAL}" "EstimatedSize" $0
  ; "Open with" offers Mezzotint; what opens a file by default stays as it is.
  WriteRegStr HKCU "${CLASSES}\Applications\Mezzotint.exe" "FriendlyAppName" "Mezzotint"
  WriteRegStr HKCU "${CLASSES}\Applications\Mezzotint.exe\shell\open\command" "" '"$INSTDIR\Mezzotint.exe" "%1"'
  !insertmacro OpenWith ".png"
  !insertmacro OpenWith ".jpg"
  !insertmacro OpenWith ".jpeg"
  !insertmacro OpenWith ".webp"
  !insertmacro OpenWith ".safetensors"
  !insertmacro OpenWith ".toml"
  WriteRegStr HKCU "${CLASSES}\Mezzotint.Job" "" "$(job)"
  WriteRegStr HKCU "${CLASSES}\Mezzotint.Job\DefaultIcon" "" "$INSTDIR\job.ico"
  WriteRegStr HKCU "${CLASSES}\Mezzotint.Job\shell\open\command" "" '"$INSTDIR\Mezzotint.exe" "%1"'
  WriteRegStr HKCU "${CLASSES}\.toml\OpenWithProgids" "Mezzotint.Job" ""
  WriteRegStr HKCU "Software\Microsoft\Windows\CurrentVersion\App Paths\Mezzotint.exe" "" "$INSTDIR\Mezzotint.exe"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd

Section /o "$(desktop)"
  CreateShortcut "$DESKTOP\Mezzotint.lnk" "$INSTDIR\Mezzotint.exe"
SectionEnd

Var asked

Section "un.$(program)"
  SectionIn RO
SectionEnd

Section /o "un.$(settings)"
  StrCpy $asked "$asked --purge"
SectionEnd

Section /o "un.$(models)"
  StrCpy $asked "$asked --models"
SectionEnd

Section "-un.remove"
  ; The bootstrap knows where the environments are, also on another drive.
  System::Call 'kernel32::SetEnvironmentVariable(t "UV_PYTHON_INSTALL_DIR", t "${DATA}\engine\python")'
  System::Call 'kernel32::SetEnvironmentVariable(t "PYTHONPATH", t "$INSTDIR")'
  nsExec::ExecToStack '"$INSTDIR\uv.exe" python find -q --managed-python --no-project ${PYTHON}'
  Pop $0
  Pop $1
  ${If} $0 == 0
    ${GetParent} $1 $1
    nsExec::Exec '"$1\python.exe" -B -m mezzotint_setup remove --payload "$INSTDIR"$asked'
    Pop $0
  ${EndIf}
  RMDir /r "${DATA}\engine\versions" ; what the running Python kept from going
  RMDir /r "${DATA}\engine\downloads"
  RMDir /r "${DATA}\engine\cache"
  RMDir /r "${DATA}\engine\payloads"
  RMDir /r "${DATA}\engine\python"
  Delete "${DATA}\engine\*.json"
  Delete "${DATA}\engine\lock"
  RMDir "${DATA}\engine"
  RMDir "${DATA}"
  !insertmacro RemovePayload
  Delete "$INSTDIR\payload.json"
  Delete "$INSTDIR\uv.exe"
  Delete "$INSTDIR\job.ico"
  Delete "$INSTDIR\mezzotint.cmd"
  Delete "$INSTDIR\Mezzotint.exe"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Mezzotint.lnk"
  Delete "$DESKTOP\Mezzotint.lnk"
  DeleteRegKey HKCU "${REMOVAL}"
  DeleteRegKey HKCU "Software\Mezzotint"
  DeleteRegKey HKCU "${CLASSES}\Applications\Mezzotint.exe"
  DeleteRegKey HKCU "${CLASSES}\Mezzotint.Job"
  DeleteRegValue HKCU "${CLASSES}\.toml\OpenWithProgids" "Mezzotint.Job"
  DeleteRegKey HKCU "Software\Microsoft\Windows\CurrentVersion\App Paths\Mezzotint.exe"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd
