@echo off
rem The command line: mezzotint generate "a red house by the sea" -o house.png
setlocal
if "%MEZZOTINT_ENGINE_ROOT%"=="" (set "UV_PYTHON_INSTALL_DIR=%LOCALAPPDATA%\mezzotint\engine\python") else (set "UV_PYTHON_INSTALL_DIR=%MEZZOTINT_ENGINE_ROOT%\python")
set "UV_NO_CONFIG=1"
set "PYTHON="
for /f "usebackq delims=" %%p in (`""%~dp0uv.exe" python find -q --managed-python --no-project @PYTHON@"`) do set "PYTHON=%%p"
if "%PYTHON%"=="" (
  echo Mezzotint: start the window first, it gets what is needed: "%~dp0Mezzotint.exe" 1>&2
  exit /b 1
)
set "PYTHONPATH=%~dp0."
set "MEZZOTINT_SETUP_PAYLOAD=%~dp0."
set "MEZZOTINT_SETUP_PYTHON=%PYTHON%"
set "PYTHONSAFEPATH=1"
set "PYTHONDONTWRITEBYTECODE=1"
"%PYTHON%" -m mezzotint_setup run %*
