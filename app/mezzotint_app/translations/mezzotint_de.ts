<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>Amounts</name>
    <message numerus="yes">
        <source>%n bytes</source>
        <translation>
            <numerusform>%n Byte</numerusform>
            <numerusform>%n Bytes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>AutomaticDecimal</name>
    <message>
        <source>automatic</source>
        <translation>automatisch</translation>
    </message>
</context>
<context>
    <name>AutomaticSpin</name>
    <message>
        <source>automatic</source>
        <translation>automatisch</translation>
    </message>
</context>
<context>
    <name>Batch</name>
    <message>
        <source>A setting is listed twice: put all its values in one row.</source>
        <translation>Eine Einstellung steht doppelt: alle Werte in eine Zeile schreiben.</translation>
    </message>
    <message>
        <source>All done.</source>
        <translation>Alles fertig.</translation>
    </message>
    <message>
        <source>Another program is running it (process {pid} on {host}).</source>
        <translation>Ein anderes Programm führt ihn aus (Prozess {pid} auf {host}).</translation>
    </message>
    <message>
        <source>CFG scale {value}</source>
        <translation>CFG-Skala {value}</translation>
    </message>
    <message>
        <source>Choose an image folder.</source>
        <translation>Bilderordner wählen.</translation>
    </message>
    <message>
        <source>Enter a prompt: it is used for image to image with every image in the folder.</source>
        <translation>Prompt eingeben: Er gilt bei Bild zu Bild für jedes Bild im Ordner.</translation>
    </message>
    <message>
        <source>Enter an instruction; it is applied to every image in the folder.</source>
        <translation>Eine Anweisung eingeben; sie wird auf jedes Bild im Ordner angewendet.</translation>
    </message>
    <message>
        <source>Enter prompts, one per line, or choose a prompt file.</source>
        <translation>Prompts eingeben, einen pro Zeile, oder eine Prompt-Datei wählen.</translation>
    </message>
    <message>
        <source>It can be resumed.</source>
        <translation>Er kann fortgesetzt werden.</translation>
    </message>
    <message>
        <source>It takes {time} (estimated).</source>
        <translation>Dauer: {time} (geschätzt).</translation>
    </message>
    <message>
        <source>It takes {time}.</source>
        <translation>Dauer: {time}.</translation>
    </message>
    <message>
        <source>Line breaks in prompts were replaced with spaces.</source>
        <translation>Zeilenumbrüche in Prompts wurden durch Leerzeichen ersetzt.</translation>
    </message>
    <message>
        <source>No images were generated: Preview shows why.</source>
        <translation>Es wurden keine Bilder generiert: Die Vorschau zeigt, warum.</translation>
    </message>
    <message>
        <source>Nothing generated yet.</source>
        <translation>Noch nichts generiert.</translation>
    </message>
    <message>
        <source>Nothing to generate: no image or prompt was found.</source>
        <translation>Nichts zu generieren: Es wurde kein Bild und kein Prompt gefunden.</translation>
    </message>
    <message>
        <source>Starting: loading the model.</source>
        <translation>Startet: Modell wird geladen.</translation>
    </message>
    <message>
        <source>Stops after this image.</source>
        <translation>Stoppt nach diesem Bild.</translation>
    </message>
    <message>
        <source>The batch</source>
        <translation>Der Batch</translation>
    </message>
    <message>
        <source>The duration is not known yet.</source>
        <translation>Die Dauer ist noch nicht bekannt.</translation>
    </message>
    <message>
        <source>The images need about {size}</source>
        <translation>Die Bilder brauchen etwa {size}</translation>
    </message>
    <message>
        <source>The job file uses one init image; it is kept, but not shown here.</source>
        <translation>Die Auftragsdatei verwendet ein einzelnes Ausgangsbild; es bleibt erhalten, wird hier aber nicht angezeigt.</translation>
    </message>
    <message>
        <source>The prompt template needs a table: choose one.</source>
        <translation>Die Prompt-Vorlage braucht eine Tabelle: eine auswählen.</translation>
    </message>
    <message>
        <source>The seed is locked: set it to Random on the Create page and copy the settings again.</source>
        <translation>Der Seed ist gesperrt: auf der Seite „Erstellen“ auf „Zufällig“ stellen und die Einstellungen erneut kopieren.</translation>
    </message>
    <message>
        <source>already done</source>
        <translation>schon fertig</translation>
    </message>
    <message>
        <source>cannot be opened</source>
        <translation>lassen sich nicht öffnen</translation>
    </message>
    <message>
        <source>cannot generate</source>
        <translation>nicht generierbar</translation>
    </message>
    <message>
        <source>default model</source>
        <translation>Standardmodell</translation>
    </message>
    <message>
        <source>denoising strength {value}</source>
        <translation>Denoising-Stärke {value}</translation>
    </message>
    <message>
        <source>generate</source>
        <translation>generieren</translation>
    </message>
    <message>
        <source>generate, rename</source>
        <translation>generieren, umbenennen</translation>
    </message>
    <message>
        <source>hires fix {value}x</source>
        <translation>Hires-Fix {value}x</translation>
    </message>
    <message>
        <source>invalid settings</source>
        <translation>ungültige Einstellungen</translation>
    </message>
    <message>
        <source>links that point outside the folder</source>
        <translation>Links, die aus dem Ordner hinausführen</translation>
    </message>
    <message>
        <source>listed twice</source>
        <translation>doppelt aufgeführt</translation>
    </message>
    <message>
        <source>loading the model</source>
        <translation>lädt das Modell</translation>
    </message>
    <message>
        <source>no mask with that name</source>
        <translation>keine Maske mit diesem Namen</translation>
    </message>
    <message>
        <source>not regular files</source>
        <translation>keine gewöhnlichen Dateien</translation>
    </message>
    <message>
        <source>overwrite</source>
        <translation>überschreiben</translation>
    </message>
    <message>
        <source>refined with {value}</source>
        <translation>verfeinert mit {value}</translation>
    </message>
    <message>
        <source>refiner {value}</source>
        <translation>Refiner {value}</translation>
    </message>
    <message>
        <source>seed {value}</source>
        <translation>Seed {value}</translation>
    </message>
    <message>
        <source>skip</source>
        <translation>überspringen</translation>
    </message>
    <message>
        <source>unknown reason</source>
        <translation>unbekannter Grund</translation>
    </message>
    <message>
        <source>unreadable images</source>
        <translation>unlesbare Bilder</translation>
    </message>
    <message>
        <source>unusable file names</source>
        <translation>unbrauchbare Dateinamen</translation>
    </message>
    <message>
        <source>{count} already done</source>
        <translation>{count} schon fertig</translation>
    </message>
    <message>
        <source>{count} cannot be generated</source>
        <translation>{count} nicht generierbar</translation>
    </message>
    <message>
        <source>{count} failed</source>
        <translation>{count} fehlgeschlagen</translation>
    </message>
    <message>
        <source>{count} overwriting a file</source>
        <translation>{count} mit Überschreiben einer Datei</translation>
    </message>
    <message>
        <source>{count} renamed because a file exists</source>
        <translation>{count} umbenannt, weil schon eine Datei existiert</translation>
    </message>
    <message>
        <source>{count} skipped</source>
        <translation>{count} übersprungen</translation>
    </message>
    <message>
        <source>{count} skipped ({why})</source>
        <translation>{count} übersprungen ({why})</translation>
    </message>
    <message>
        <source>{count} to generate</source>
        <translation>{count} zu generieren</translation>
    </message>
    <message>
        <source>{done} generated</source>
        <translation>{done} generiert</translation>
    </message>
    <message>
        <source>{done} of {total} generated</source>
        <translation>{done} von {total} generiert</translation>
    </message>
    <message>
        <source>{name}: step {step} of {steps}</source>
        <translation>{name}: Schritt {step} von {steps}</translation>
    </message>
    <message>
        <source>{name}: {why}</source>
        <translation>{name}: {why}</translation>
    </message>
    <message>
        <source>{rate} images/h</source>
        <translation>{rate} Bilder/h</translation>
    </message>
    <message>
        <source>{rate} images/min</source>
        <translation>{rate} Bilder/min</translation>
    </message>
    <message>
        <source>{rate} images/s</source>
        <translation>{rate} Bilder/s</translation>
    </message>
    <message>
        <source>{size} VRAM</source>
        <translation>{size} VRAM</translation>
    </message>
    <message>
        <source>{size} free.</source>
        <translation>{size} frei.</translation>
    </message>
    <message>
        <source>{value} per prompt</source>
        <translation>{value} pro Prompt</translation>
    </message>
</context>
<context>
    <name>BatchCard</name>
    <message>
        <source>Add the output folder to the gallery</source>
        <translation>Den Ausgabeordner zur Galerie hinzufügen</translation>
    </message>
    <message>
        <source>All images of the grid in one, labelled</source>
        <translation>Alle Bilder des Rasters in einem, beschriftet</translation>
    </message>
    <message>
        <source>Batch: {title}</source>
        <translation>Batch: {title}</translation>
    </message>
    <message>
        <source>Failed images</source>
        <translation>Fehlgeschlagene Bilder</translation>
    </message>
    <message>
        <source>Failed: {count}</source>
        <translation>Fehlgeschlagen: {count}</translation>
    </message>
    <message>
        <source>Full error</source>
        <translation>Vollständige Fehlermeldung</translation>
    </message>
    <message>
        <source>Generate the missing images; nothing is generated twice</source>
        <translation>Fehlende Bilder generieren; nichts wird doppelt generiert</translation>
    </message>
    <message>
        <source>It has not responded for some minutes. Use “Stop at once”, then “Resume”: nothing is lost.</source>
        <translation>Er reagiert seit einigen Minuten nicht. „Sofort stoppen“ und dann „Fortsetzen“ verwenden: Es geht nichts verloren.</translation>
    </message>
    <message>
        <source>Its images stay where they are; nothing is deleted</source>
        <translation>Die Bilder bleiben, wo sie sind; nichts wird gelöscht</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Open the output folder</source>
        <translation>Ausgabeordner öffnen</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>Aus der Liste entfernen</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Retry failed</source>
        <translation>Fehlgeschlagene wiederholen</translation>
    </message>
    <message>
        <source>Retry what failed, and make the missing images</source>
        <translation>Fehlgeschlagenes wiederholen und fehlende Bilder generieren</translation>
    </message>
    <message>
        <source>Select one to read the full error</source>
        <translation>Eines auswählen, um die vollständige Fehlermeldung zu lesen</translation>
    </message>
    <message>
        <source>Show grid</source>
        <translation>Raster zeigen</translation>
    </message>
    <message>
        <source>Show in the gallery</source>
        <translation>In der Galerie anzeigen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stoppen</translation>
    </message>
    <message>
        <source>Stop after the current image</source>
        <translation>Nach dem aktuellen Bild stoppen</translation>
    </message>
    <message>
        <source>Stop at once</source>
        <translation>Sofort stoppen</translation>
    </message>
    <message>
        <source>The current image starts over when the batch is resumed</source>
        <translation>Das aktuelle Bild beginnt von vorn, wenn der Batch fortgesetzt wird</translation>
    </message>
    <message>
        <source>The log of the run, for troubleshooting</source>
        <translation>Das Protokoll des Laufs, zur Fehlersuche</translation>
    </message>
    <message>
        <source>Which images failed, and why</source>
        <translation>Welche Bilder fehlgeschlagen sind und warum</translation>
    </message>
    <message>
        <source>{what}: {title}</source>
        <translation>{what}: {title}</translation>
    </message>
</context>
<context>
    <name>BatchCounts</name>
    <message numerus="yes">
        <source>%Ln already exist</source>
        <translation>
            <numerusform>%Ln existiert schon</numerusform>
            <numerusform>%Ln existieren schon</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BatchFailures</name>
    <message numerus="yes">
        <source>%n more failed</source>
        <translation>
            <numerusform>%n weiteres fehlgeschlagen</numerusform>
            <numerusform>%n weitere fehlgeschlagen</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BatchInputs</name>
    <message>
        <source>A prompt file, a table, wildcards</source>
        <translation>Prompt-Datei, Tabelle, Wildcards</translation>
    </message>
    <message>
        <source>A prompt with column names in braces; if empty, the prompt column is used</source>
        <translation>Ein Prompt mit Spaltennamen in geschweiften Klammern; wenn leer, wird die Spalte „prompt“ verwendet</translation>
    </message>
    <message>
        <source>A text file with one prompt per line</source>
        <translation>Eine Textdatei mit einem Prompt pro Zeile</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>Aktion</translation>
    </message>
    <message>
        <source>Also use the images in its subfolders</source>
        <translation>Auch die Bilder in den Unterordnern verwenden</translation>
    </message>
    <message>
        <source>Alternatives</source>
        <translation>Alternativen</translation>
    </message>
    <message>
        <source>Denoising strength</source>
        <translation>Denoising-Stärke</translation>
    </message>
    <message>
        <source>Each line is a prompt of its own. {a|b} and __NAME__ stand for alternatives</source>
        <translation>Jede Zeile ist ein eigener Prompt. {a|b} und __NAME__ stehen für Alternativen</translation>
    </message>
    <message>
        <source>Edit by instruction (reference image)</source>
        <translation>Nach Anweisung bearbeiten (Referenzbild)</translation>
    </message>
    <message>
        <source>Every image in it is used; the originals are not changed</source>
        <translation>Jedes Bild darin wird verwendet; die Originale bleiben unverändert</translation>
    </message>
    <message>
        <source>File name filter</source>
        <translation>Dateinamenfilter</translation>
    </message>
    <message>
        <source>File name patterns separated by semicolons, such as *.png; holiday*</source>
        <translation>Durch Semikolons getrennte Muster für Dateinamen, z. B. *.png; urlaub*</translation>
    </message>
    <message>
        <source>Generate every image with several seeds, steps, models or other settings</source>
        <translation>Jedes Bild mit mehreren Seeds, Schrittzahlen, Modellen oder anderen Einstellungen generieren</translation>
    </message>
    <message>
        <source>How much an image is changed: 0 keeps it as it is, 1 replaces it completely</source>
        <translation>Wie stark ein Bild verändert wird: 0 lässt es, wie es ist, 1 ersetzt es vollständig</translation>
    </message>
    <message>
        <source>How {a|b} and __NAME__ in prompts are expanded</source>
        <translation>Wie {a|b} und __NAME__ in Prompts aufgelöst werden</translation>
    </message>
    <message>
        <source>Image folder</source>
        <translation>Bilderordner</translation>
    </message>
    <message>
        <source>Image selection</source>
        <translation>Bildauswahl</translation>
    </message>
    <message>
        <source>Image to image</source>
        <translation>Bild zu Bild</translation>
    </message>
    <message>
        <source>Images in the job file</source>
        <translation>Bilder in der Auftragsdatei</translation>
    </message>
    <message numerus="yes">
        <source>Images listed in the job file: %n</source>
        <translation>
            <numerusform>Bilder in der Auftragsdatei: %n</numerusform>
            <numerusform>Bilder in der Auftragsdatei: %n</numerusform>
        </translation>
    </message>
    <message>
        <source>Include subfolders</source>
        <translation>Unterordner einbeziehen</translation>
    </message>
    <message>
        <source>Mask folder</source>
        <translation>Maskenordner</translation>
    </message>
    <message>
        <source>Masks with the same file names as the images; only white areas are inpainted</source>
        <translation>Masken mit denselben Dateinamen wie die Bilder; Inpainting nur in weißen Bereichen</translation>
    </message>
    <message>
        <source>Maximum images</source>
        <translation>Höchstzahl der Bilder</translation>
    </message>
    <message>
        <source>NAME.txt in it lists the alternatives for __NAME__</source>
        <translation>NAME.txt darin listet die Alternativen für __NAME__ auf</translation>
    </message>
    <message>
        <source>NAME.txt next to NAME.png holds its prompt, which replaces the prompts below</source>
        <translation>NAME.txt neben NAME.png enthält dessen Prompt, der die Prompts unten ersetzt</translation>
    </message>
    <message>
        <source>One row per image; columns fill in the prompt template, or are settings by name</source>
        <translation>Eine Zeile pro Bild; Spalten füllen die Prompt-Vorlage oder sind Einstellungen nach Namen</translation>
    </message>
    <message>
        <source>Parameter grid</source>
        <translation>Parameterraster</translation>
    </message>
    <message>
        <source>Prompt file</source>
        <translation>Prompt-Datei</translation>
    </message>
    <message>
        <source>Prompt files</source>
        <translation>Prompt-Dateien</translation>
    </message>
    <message>
        <source>Prompt template</source>
        <translation>Prompt-Vorlage</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Prompts from text files</source>
        <translation>Prompts aus Textdateien</translation>
    </message>
    <message>
        <source>Prompts, one per line</source>
        <translation>Prompts, einer pro Zeile</translation>
    </message>
    <message>
        <source>Regenerate from metadata</source>
        <translation>Aus Metadaten neu generieren</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>Subfolders, file name filter, masks, text files</source>
        <translation>Unterordner, Dateinamenfilter, Masken, Textdateien</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>Use only the first images of the folder, up to this number</source>
        <translation>Nur die ersten Bilder des Ordners verwenden, bis zu dieser Zahl</translation>
    </message>
    <message>
        <source>Values to combine</source>
        <translation>Zu kombinierende Werte</translation>
    </message>
    <message>
        <source>Wait for new images</source>
        <translation>Auf neue Bilder warten</translation>
    </message>
    <message>
        <source>What the images are generated from</source>
        <translation>Woraus die Bilder generiert werden</translation>
    </message>
    <message>
        <source>What to do with each image</source>
        <translation>Was mit jedem Bild geschieht</translation>
    </message>
    <message>
        <source>When all images are done, continue with images that are added to the folder, until stopped</source>
        <translation>Wenn alle Bilder fertig sind, mit neu hinzugekommenen Bildern des Ordners weitermachen, bis gestoppt wird</translation>
    </message>
    <message>
        <source>Wildcard folder</source>
        <translation>Wildcard-Ordner</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>all images</source>
        <translation>alle Bilder</translation>
    </message>
    <message numerus="yes">
        <source>at most %n</source>
        <translation>
            <numerusform>höchstens %n</numerusform>
            <numerusform>höchstens %n</numerusform>
        </translation>
    </message>
    <message>
        <source>choose a folder, or drop it here</source>
        <translation>Ordner wählen oder hier ablegen</translation>
    </message>
    <message>
        <source>masks</source>
        <translation>Masken</translation>
    </message>
    <message>
        <source>new images</source>
        <translation>neue Bilder</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>one at random for each image</source>
        <translation>eine zufällige für jedes Bild</translation>
    </message>
    <message>
        <source>one image for each</source>
        <translation>ein Bild für jede</translation>
    </message>
    <message>
        <source>prompt file</source>
        <translation>Prompt-Datei</translation>
    </message>
    <message>
        <source>subfolders</source>
        <translation>Unterordner</translation>
    </message>
    <message>
        <source>such as: a {colour} {animal}</source>
        <translation>z. B.: a {colour} {animal}</translation>
    </message>
    <message>
        <source>table</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>text files</source>
        <translation>Textdateien</translation>
    </message>
    <message>
        <source>wildcards</source>
        <translation>Wildcards</translation>
    </message>
</context>
<context>
    <name>BatchList</name>
    <message>
        <source>Choose an image folder or enter prompts on the left, check the preview, and start. A batch resumes where it stopped, even after the computer was restarted.</source>
        <translation>Links einen Bilderordner wählen oder Prompts eingeben, die Vorschau prüfen und starten. Ein Batch wird dort fortgesetzt, wo er gestoppt wurde, auch nach einem Neustart des Computers.</translation>
    </message>
    <message>
        <source>No batches yet</source>
        <translation>Noch keine Batches</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>Aus der Liste entfernen</translation>
    </message>
    <message>
        <source>The images of this batch are kept. To resume it later, start a batch with the same output folder.</source>
        <translation>Die Bilder dieses Batches bleiben erhalten. Um ihn später fortzusetzen, einen Batch mit demselben Ausgabeordner starten.</translation>
    </message>
</context>
<context>
    <name>BatchLogDialog</name>
    <message>
        <source>Batch log</source>
        <translation>Batch-Protokoll</translation>
    </message>
    <message>
        <source>Close the log</source>
        <translation>Protokoll schließen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy all lines, for a bug report</source>
        <translation>Alle Zeilen kopieren, für einen Fehlerbericht</translation>
    </message>
    <message>
        <source>Last lines of the log</source>
        <translation>Letzte Zeilen des Protokolls</translation>
    </message>
    <message>
        <source>Output of the last run</source>
        <translation>Ausgabe des letzten Laufs</translation>
    </message>
</context>
<context>
    <name>BatchMatrix</name>
    <message>
        <source>A setting with several values</source>
        <translation>Eine Einstellung mit mehreren Werten</translation>
    </message>
    <message>
        <source>CFG scale</source>
        <translation>CFG-Skala</translation>
    </message>
    <message>
        <source>Hires fix</source>
        <translation>Hires-Fix</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Sampler</source>
        <translation>Sampler</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Setting {number}</source>
        <translation>Einstellung {number}</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>Stärke</translation>
    </message>
    <message>
        <source>Values of setting {number}</source>
        <translation>Werte der Einstellung {number}</translation>
    </message>
    <message>
        <source>Values separated by commas; every image is generated with each of them</source>
        <translation>Durch Kommas getrennte Werte, Dezimalzahlen mit Punkt (7.5); jedes Bild wird mit jedem davon generiert</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>such as 20, 30</source>
        <translation>z. B. 20, 30</translation>
    </message>
</context>
<context>
    <name>BatchModel</name>
    <message>
        <source>Job file saved: {path}</source>
        <translation>Auftragsdatei gespeichert: {path}</translation>
    </message>
    <message>
        <source>Not copied: {names}.</source>
        <translation>Nicht kopiert: {names}.</translation>
    </message>
    <message>
        <source>{name}, new</source>
        <translation>{name}, neu</translation>
    </message>
</context>
<context>
    <name>BatchOutputs</name>
    <message>
        <source>A pattern such as {pattern}; the extension follows from the format</source>
        <translation>Ein Muster wie {pattern}; die Endung ergibt sich aus dem Format</translation>
    </message>
    <message>
        <source>Also a labelled grid</source>
        <translation>Auch ein beschriftetes Raster</translation>
    </message>
    <message>
        <source>Copy model, size, steps and all other settings as they are on the Create page now</source>
        <translation>Modell, Größe, Schritte und alle anderen Einstellungen so kopieren, wie sie jetzt auf der Seite „Erstellen“ stehen</translation>
    </message>
    <message>
        <source>Copy settings from Create</source>
        <translation>Einstellungen aus „Erstellen“ kopieren</translation>
    </message>
    <message>
        <source>Every GPU generates images of this batch at the same time</source>
        <translation>Alle GPUs generieren gleichzeitig Bilder dieses Batches</translation>
    </message>
    <message>
        <source>File name pattern, format, existing files</source>
        <translation>Dateinamenmuster, Format, vorhandene Dateien</translation>
    </message>
    <message>
        <source>File names</source>
        <translation>Dateinamen</translation>
    </message>
    <message>
        <source>File names and format</source>
        <translation>Dateinamen und Format</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>If a file exists</source>
        <translation>Wenn eine Datei existiert</translation>
    </message>
    <message>
        <source>Images of this batch are never generated twice; this applies to other files</source>
        <translation>Bilder dieses Batches werden nie doppelt generiert; dies gilt für andere Dateien</translation>
    </message>
    <message>
        <source>Keep subfolders</source>
        <translation>Unterordner beibehalten</translation>
    </message>
    <message>
        <source>One image of all, by the settings with several values: up to three, or prompts</source>
        <translation>Ein Bild aus allen, nach den Einstellungen mit mehreren Werten: bis zu drei, oder Prompts</translation>
    </message>
    <message>
        <source>Output folder</source>
        <translation>Ausgabeordner</translation>
    </message>
    <message>
        <source>Overwrite</source>
        <translation>Überschreiben</translation>
    </message>
    <message>
        <source>PNG is lossless; the others are smaller</source>
        <translation>PNG ist verlustfrei; die anderen sind kleiner</translation>
    </message>
    <message>
        <source>Rename the new image</source>
        <translation>Das neue Bild umbenennen</translation>
    </message>
    <message>
        <source>Save new images in the same subfolders as their sources; otherwise all go into one folder</source>
        <translation>Neue Bilder in denselben Unterordnern speichern wie ihre Quellen; sonst kommen alle in einen Ordner</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>Überspringen</translation>
    </message>
    <message>
        <source>Use all GPUs</source>
        <translation>Alle GPUs verwenden</translation>
    </message>
    <message>
        <source>Where images are saved; running again with the same folder generates only missing images</source>
        <translation>Wo Bilder gespeichert werden; ein neuer Lauf mit demselben Ordner generiert nur fehlende Bilder</translation>
    </message>
    <message>
        <source>from the source images or prompts</source>
        <translation>nach den Quellbildern oder Prompts</translation>
    </message>
</context>
<context>
    <name>BatchPage</name>
    <message>
        <source>Batches</source>
        <translation>Batches</translation>
    </message>
    <message>
        <source>Batches and preview</source>
        <translation>Batches und Vorschau</translation>
    </message>
    <message>
        <source>Fill in this page from a job file</source>
        <translation>Diese Seite aus einer Auftragsdatei ausfüllen</translation>
    </message>
    <message>
        <source>Generate the images, one after another</source>
        <translation>Die Bilder nacheinander generieren</translation>
    </message>
    <message>
        <source>Job files</source>
        <translation>Auftragsdateien</translation>
    </message>
    <message>
        <source>List every image that would be generated; nothing is generated</source>
        <translation>Alle Bilder auflisten, die generiert würden; generiert wird nichts</translation>
    </message>
    <message>
        <source>Open job file</source>
        <translation>Auftragsdatei öffnen</translation>
    </message>
    <message>
        <source>Open job file…</source>
        <translation>Auftragsdatei öffnen…</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Vorschau</translation>
    </message>
    <message>
        <source>Save all settings of this page to a file, for later or for another computer</source>
        <translation>Alle Einstellungen dieser Seite in einer Datei speichern, für später oder einen anderen Computer</translation>
    </message>
    <message>
        <source>Save job file</source>
        <translation>Auftragsdatei speichern</translation>
    </message>
    <message>
        <source>Save job file…</source>
        <translation>Auftragsdatei speichern…</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Starten</translation>
    </message>
</context>
<context>
    <name>BatchPath</name>
    <message>
        <source>Choose: {name}</source>
        <translation>Wählen: {name}</translation>
    </message>
</context>
<context>
    <name>BatchPreviewPane</name>
    <message>
        <source>Keep the rows listed so far</source>
        <translation>Die bisher aufgeführten Zeilen behalten</translation>
    </message>
    <message>
        <source>List every image that would be generated</source>
        <translation>Alle Bilder auflisten, die generiert würden</translation>
    </message>
    <message>
        <source>Lists the images that the batch would generate, their sources and file names, how long it takes, and whether the disk has enough space. Nothing is generated.</source>
        <translation>Listet die Bilder auf, die der Batch generieren würde, mit Quellen und Dateinamen, wie lange es dauert und ob der Speicherplatz reicht. Generiert wird nichts.</translation>
    </message>
    <message>
        <source>Not enough disk space: free some space, or choose another folder.</source>
        <translation>Zu wenig Speicherplatz: Platz schaffen oder einen anderen Ordner wählen.</translation>
    </message>
    <message>
        <source>Preparing preview: {count} so far</source>
        <translation>Vorschau wird vorbereitet: bisher {count}</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Vorschau</translation>
    </message>
    <message>
        <source>Preview before you start</source>
        <translation>Vor dem Start eine Vorschau ansehen</translation>
    </message>
    <message>
        <source>Stop preview</source>
        <translation>Vorschau stoppen</translation>
    </message>
    <message>
        <source>Stopped after {count}; there may be more.</source>
        <translation>Nach {count} gestoppt; es können mehr sein.</translation>
    </message>
    <message>
        <source>The table shows only the first {count}.</source>
        <translation>Die Tabelle zeigt nur die ersten {count}.</translation>
    </message>
    <message>
        <source>This batch cannot be generated with these settings.</source>
        <translation>Dieser Batch kann mit diesen Einstellungen nicht generiert werden.</translation>
    </message>
</context>
<context>
    <name>BatchProcess</name>
    <message>
        <source>Python was not found</source>
        <translation>Python wurde nicht gefunden</translation>
    </message>
</context>
<context>
    <name>Batches</name>
    <message>
        <source>A batch for this folder is already running: stop it first.</source>
        <translation>Für diesen Ordner läuft schon ein Batch: diesen zuerst stoppen.</translation>
    </message>
    <message>
        <source>Waiting for the previous batch.</source>
        <translation>Wartet auf den vorherigen Batch.</translation>
    </message>
</context>
<context>
    <name>BoardsMenu</name>
    <message>
        <source>Boards</source>
        <translation>Boards</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>New board</source>
        <translation>Neues Board</translation>
    </message>
    <message>
        <source>New board…</source>
        <translation>Neues Board…</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Tags</translation>
    </message>
    <message>
        <source>Tags, separated by commas</source>
        <translation>Tags, durch Kommas getrennt</translation>
    </message>
</context>
<context>
    <name>BoardsPanel</name>
    <message>
        <source>All images</source>
        <translation>Alle Bilder</translation>
    </message>
    <message>
        <source>Boards</source>
        <translation>Boards</translation>
    </message>
    <message>
        <source>Boards: choose one to see its images, drop images on one to put them there</source>
        <translation>Boards: eines wählen, um seine Bilder zu sehen; Bilder darauf ablegen, um sie hinzuzufügen</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>New board</source>
        <translation>Neues Board</translation>
    </message>
    <message>
        <source>New smart board</source>
        <translation>Neues intelligentes Board</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove board</source>
        <translation>Board entfernen</translation>
    </message>
    <message>
        <source>Remove the board {name}? Its images stay in the gallery.</source>
        <translation>Board {name} entfernen? Seine Bilder bleiben in der Galerie.</translation>
    </message>
    <message>
        <source>Remove the board; its images stay</source>
        <translation>Board entfernen; seine Bilder bleiben</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Rename the board</source>
        <translation>Board umbenennen</translation>
    </message>
    <message>
        <source>Save the search as a smart board</source>
        <translation>Suche als intelligentes Board speichern</translation>
    </message>
</context>
<context>
    <name>Candidates</name>
    <message>
        <source>The canvas has too many layers. Remove one, then accept.</source>
        <translation>Die Arbeitsfläche hat zu viele Ebenen. Eine entfernen, dann übernehmen.</translation>
    </message>
</context>
<context>
    <name>CandidatesBar</name>
    <message>
        <source>Accept</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>Candidate {number} of {count}, seed {seed}</source>
        <translation>Vorschlag {number} von {count}, Seed {seed}</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Drop it; the file stays in the gallery</source>
        <translation>Weglassen; die Datei bleibt in der Galerie</translation>
    </message>
    <message>
        <source>Next candidate</source>
        <translation>Nächster Vorschlag</translation>
    </message>
    <message>
        <source>Previous candidate</source>
        <translation>Voriger Vorschlag</translation>
    </message>
    <message>
        <source>Put it on a new layer</source>
        <translation>Auf eine neue Ebene legen</translation>
    </message>
    <message>
        <source>Show what was there before</source>
        <translation>Zeigen, was vorher da war</translation>
    </message>
</context>
<context>
    <name>Canvas</name>
    <message>
        <source>Canvas</source>
        <translation>Arbeitsfläche</translation>
    </message>
    <message>
        <source>Control</source>
        <translation>Kontrolle</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Mask</source>
        <translation>Maske</translation>
    </message>
    <message>
        <source>Reference</source>
        <translation>Referenz</translation>
    </message>
    <message>
        <source>Sketch</source>
        <translation>Skizze</translation>
    </message>
    <message>
        <source>There is no picture on the canvas yet</source>
        <translation>Auf der Arbeitsfläche ist noch kein Bild</translation>
    </message>
    <message>
        <source>Tool at {0}, {1}</source>
        <translation>Werkzeug bei {0}, {1}</translation>
    </message>
</context>
<context>
    <name>CanvasGeneration</name>
    <message>
        <source>Choose a ControlNet for the control layer, or hide the layer.</source>
        <translation>Wählen Sie ein ControlNet für die Kontrollebene, oder blenden Sie die Ebene aus.</translation>
    </message>
    <message>
        <source>Choose a mask layer that has something in the frame.</source>
        <translation>Wählen Sie eine Maskenebene, auf der im Rahmen etwas liegt.</translation>
    </message>
    <message>
        <source>Nothing was queued: {0}</source>
        <translation>Nichts eingereiht: {0}</translation>
    </message>
    <message>
        <source>The region was added; its layer is hidden. Regions are listed on Create.</source>
        <translation>Die Region wurde hinzugefügt; ihre Ebene ist ausgeblendet. Regionen stehen unter „Erstellen“.</translation>
    </message>
    <message>
        <source>There are as many regions as can be used.</source>
        <translation>Mehr Regionen können nicht verwendet werden.</translation>
    </message>
    <message>
        <source>There is no picture in the frame.</source>
        <translation>Im Rahmen ist kein Bild.</translation>
    </message>
    <message>
        <source>{model} takes no reference images: reference layers are left out.</source>
        <translation>{model} verwendet keine Referenzbilder: Referenzebenen werden ausgelassen.</translation>
    </message>
</context>
<context>
    <name>CanvasKeeping</name>
    <message>
        <source>The canvas could not be kept: {0}</source>
        <translation>Die Arbeitsfläche konnte nicht gesichert werden: {0}</translation>
    </message>
    <message>
        <source>The canvas of the last session could not be read, and is kept in {file}: {error}</source>
        <translation>Die Arbeitsfläche der letzten Sitzung konnte nicht gelesen werden und liegt in {file}: {error}</translation>
    </message>
</context>
<context>
    <name>CanvasModel</name>
    <message>
        <source>A picture of {size} pixels cannot be saved.</source>
        <translation>Ein Bild mit {size} Pixeln kann nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Saved: {name}</source>
        <translation>Gespeichert: {name}</translation>
    </message>
    <message>
        <source>The canvas has too many layers. Remove one first.</source>
        <translation>Die Arbeitsfläche hat zu viele Ebenen. Zuerst eine entfernen.</translation>
    </message>
    <message>
        <source>There is nothing on visible layers to save yet.</source>
        <translation>Auf sichtbaren Ebenen ist noch nichts zu speichern.</translation>
    </message>
    <message>
        <source>{name} was not saved: end the name in .ora (all layers) or .png (the picture).</source>
        <translation>{name} wurde nicht gespeichert: Der Name muss auf .ora (alle Ebenen) oder .png (das Bild) enden.</translation>
    </message>
</context>
<context>
    <name>CanvasPage</name>
    <message>
        <source>All layers: OpenRaster</source>
        <translation>Alle Ebenen: OpenRaster</translation>
    </message>
    <message>
        <source>Discard it</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Images and OpenRaster</source>
        <translation>Bilder und OpenRaster</translation>
    </message>
    <message>
        <source>Layers and generation</source>
        <translation>Ebenen und Generieren</translation>
    </message>
    <message>
        <source>New canvas</source>
        <translation>Neue Arbeitsfläche</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Regional prompt</source>
        <translation>Regionaler Prompt</translation>
    </message>
    <message>
        <source>Save as</source>
        <translation>Speichern unter</translation>
    </message>
    <message>
        <source>The canvas has not been saved, and would be lost.</source>
        <translation>Die Arbeitsfläche ist nicht gespeichert und ginge verloren.</translation>
    </message>
    <message>
        <source>The picture: PNG</source>
        <translation>Das Bild: PNG</translation>
    </message>
    <message>
        <source>What the masked part shows</source>
        <translation>Was der maskierte Teil zeigt</translation>
    </message>
</context>
<context>
    <name>CanvasToolbar</name>
    <message>
        <source>Brush (B)</source>
        <translation>Pinsel (B)</translation>
    </message>
    <message>
        <source>Brush hardness</source>
        <translation>Pinselhärte</translation>
    </message>
    <message>
        <source>Brush hardness (Shift+[ and Shift+])</source>
        <translation>Pinselhärte (Umschalt+[ und Umschalt+])</translation>
    </message>
    <message>
        <source>Brush size</source>
        <translation>Pinselgröße</translation>
    </message>
    <message>
        <source>Brush size: {0} px ([ and ])</source>
        <translation>Pinselgröße: {0} px ([ und ])</translation>
    </message>
    <message>
        <source>Colour</source>
        <translation>Farbe</translation>
    </message>
    <message>
        <source>Colour (C)</source>
        <translation>Farbe (C)</translation>
    </message>
    <message>
        <source>Colour picker (I, or Alt with any tool)</source>
        <translation>Pipette (I, oder Alt bei jedem Werkzeug)</translation>
    </message>
    <message>
        <source>Deselect</source>
        <translation>Auswahl aufheben</translation>
    </message>
    <message>
        <source>Eraser (E)</source>
        <translation>Radierer (E)</translation>
    </message>
    <message>
        <source>Fill an area of similar colour; with Ctrl it erases (G)</source>
        <translation>Eine Fläche ähnlicher Farbe füllen; mit Strg löschen (G)</translation>
    </message>
    <message>
        <source>Frame: where is generated; drag it or its edges, or press elsewhere (F)</source>
        <translation>Rahmen: Wo erzeugt wird; ihn oder seine Kanten ziehen, oder anderswo drücken (F)</translation>
    </message>
    <message>
        <source>Hardness</source>
        <translation>Härte</translation>
    </message>
    <message>
        <source>Invert selection</source>
        <translation>Auswahl umkehren</translation>
    </message>
    <message>
        <source>Lasso: fills a free shape; with Ctrl it erases (L)</source>
        <translation>Lasso: füllt eine freie Form; mit Strg löscht es (L)</translation>
    </message>
    <message>
        <source>Mask layer from selection</source>
        <translation>Maskenebene aus Auswahl</translation>
    </message>
    <message>
        <source>Move the layer, or scale it by its handles (V)</source>
        <translation>Die Ebene verschieben, oder an den Griffen skalieren (V)</translation>
    </message>
    <message>
        <source>New canvas</source>
        <translation>Neue Arbeitsfläche</translation>
    </message>
    <message>
        <source>Opacity</source>
        <translation>Deckkraft</translation>
    </message>
    <message>
        <source>Opacity of strokes and fills</source>
        <translation>Deckkraft von Strichen und Füllungen</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen…</translation>
    </message>
    <message>
        <source>Rectangle: fills it; with Ctrl it erases (R)</source>
        <translation>Rechteck: füllt es; mit Strg löscht es (R)</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Regional prompt from mask layer…</source>
        <translation>Regionaler Prompt aus Maskenebene …</translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation>Speichern unter…</translation>
    </message>
    <message>
        <source>Select a free shape; Shift adds, Ctrl subtracts (N)</source>
        <translation>Eine freie Form auswählen; Umschalt fügt hinzu, Strg zieht ab (N)</translation>
    </message>
    <message>
        <source>Select a rectangle; Shift adds, Ctrl subtracts (M)</source>
        <translation>Ein Rechteck auswählen; Umschalt fügt hinzu, Strg zieht ab (M)</translation>
    </message>
    <message>
        <source>Selection, open, save and clear</source>
        <translation>Auswahl, Öffnen, Speichern und Leeren</translation>
    </message>
    <message>
        <source>Show everything</source>
        <translation>Alles zeigen</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Use as init image on Create</source>
        <translation>Als Ausgangsbild unter „Erstellen“ verwenden</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
</context>
<context>
    <name>CanvasTools</name>
    <message>
        <source>Fill works within the picture and the frame.</source>
        <translation>Füllen wirkt im Bild und im Rahmen.</translation>
    </message>
    <message>
        <source>The layer is empty, or would become too large.</source>
        <translation>Die Ebene ist leer oder würde zu groß.</translation>
    </message>
    <message>
        <source>The layer is hidden. Show it to change it.</source>
        <translation>Die Ebene ist ausgeblendet. Zum Ändern einblenden.</translation>
    </message>
</context>
<context>
    <name>CanvasView</name>
    <message>
        <source>Paint, open an image (Ctrl+O), or write a prompt and generate into the frame (Ctrl+Enter)</source>
        <translation>Malen, ein Bild öffnen (Strg+O) oder einen Prompt schreiben und in den Rahmen generieren (Strg+Eingabe)</translation>
    </message>
</context>
<context>
    <name>CardPanel</name>
    <message>
        <source>Choose a thumbnail</source>
        <translation>Bild wählen</translation>
    </message>
    <message>
        <source>Choose thumbnail…</source>
        <translation>Bild wählen…</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>Beschreibung</translation>
    </message>
    <message>
        <source>For finding it, separated by commas</source>
        <translation>Zum Wiederfinden, durch Kommas getrennt</translation>
    </message>
    <message>
        <source>Generate one small image, which becomes its thumbnail</source>
        <translation>Erzeugt ein kleines Bild, das als Vorschaubild dient</translation>
    </message>
    <message>
        <source>Generate thumbnail</source>
        <translation>Vorschaubild erzeugen</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notizen</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Save trigger words, tags and notes</source>
        <translation>Auslösewörter, Schlagwörter und Notizen speichern</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Schlagwörter</translation>
    </message>
    <message>
        <source>Trigger words</source>
        <translation>Auslösewörter</translation>
    </message>
    <message>
        <source>Use a small copy of an image as its thumbnail</source>
        <translation>Eine kleine Kopie eines Bildes als Vorschaubild verwenden</translation>
    </message>
    <message>
        <source>Words that a LoRA was trained with, separated by commas</source>
        <translation>Wörter, mit denen ein LoRA trainiert wurde, durch Kommas getrennt</translation>
    </message>
    <message>
        <source>Your own notes</source>
        <translation>Eigene Notizen</translation>
    </message>
</context>
<context>
    <name>CompareSlider</name>
    <message>
        <source>Move the divider between before and after (Shift+Left, Shift+Right)</source>
        <translation>Trennlinie zwischen Vorher und Nachher verschieben (Umschalt+Links, Umschalt+Rechts)</translation>
    </message>
    <message>
        <source>Position of the divider</source>
        <translation>Position der Trennlinie</translation>
    </message>
</context>
<context>
    <name>CompareWindow</name>
    <message>
        <source>Before and after with a divider (C)</source>
        <translation>Vorher und nachher mit Trennlinie (C)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>Schließen (Esc)</translation>
    </message>
    <message>
        <source>Compare images</source>
        <translation>Bilder vergleichen</translation>
    </message>
    <message>
        <source>Zoom and position are those of all images.</source>
        <translation>Zoom und Ausschnitt gelten für alle Bilder.</translation>
    </message>
</context>
<context>
    <name>ComparedImage</name>
    <message>
        <source>Image {number}: {name}</source>
        <translation>Bild {number}: {name}</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Wird geladen…</translation>
    </message>
</context>
<context>
    <name>CompletionList</name>
    <message>
        <source>Completions</source>
        <translation>Vervollständigungen</translation>
    </message>
    <message>
        <source>LoRA</source>
        <translation>LoRA</translation>
    </message>
    <message>
        <source>Up and Down to move, Tab or Enter to insert, Escape to close</source>
        <translation>Mit den Pfeiltasten wählen, mit Tab oder Eingabe einfügen, mit Esc schließen</translation>
    </message>
    <message>
        <source>embedding</source>
        <translation>Embedding</translation>
    </message>
    <message>
        <source>style</source>
        <translation>Stil</translation>
    </message>
    <message>
        <source>wildcard</source>
        <translation>Wildcard</translation>
    </message>
</context>
<context>
    <name>Control</name>
    <message>
        <source>Anime line art</source>
        <translation>Anime-Strichzeichnung</translation>
    </message>
    <message>
        <source>Blur it</source>
        <translation>Weichzeichnen</translation>
    </message>
    <message>
        <source>Blurred image</source>
        <translation>Unscharfes Bild</translation>
    </message>
    <message>
        <source>Depth</source>
        <translation>Tiefe</translation>
    </message>
    <message>
        <source>Edges (Canny)</source>
        <translation>Kanten (Canny)</translation>
    </message>
    <message>
        <source>Edges (TED)</source>
        <translation>Kanten (TED)</translation>
    </message>
    <message>
        <source>Estimate its depth</source>
        <translation>Tiefe schätzen</translation>
    </message>
    <message>
        <source>Find its edges</source>
        <translation>Kanten suchen</translation>
    </message>
    <message>
        <source>Find its soft contours</source>
        <translation>Weiche Konturen finden</translation>
    </message>
    <message>
        <source>Find the poses of people</source>
        <translation>Posen von Menschen finden</translation>
    </message>
    <message>
        <source>Grey image</source>
        <translation>Graustufenbild</translation>
    </message>
    <message>
        <source>Inpainting</source>
        <translation>Inpainting</translation>
    </message>
    <message>
        <source>Line art</source>
        <translation>Strichzeichnung</translation>
    </message>
    <message>
        <source>Low quality</source>
        <translation>Geringe Qualität</translation>
    </message>
    <message>
        <source>Make it grey</source>
        <translation>In Grau umwandeln</translation>
    </message>
    <message>
        <source>Pose</source>
        <translation>Pose</translation>
    </message>
    <message>
        <source>Repainting</source>
        <translation>Übermalen</translation>
    </message>
    <message>
        <source>Scribble</source>
        <translation>Kritzelei</translation>
    </message>
    <message>
        <source>Scribble its contours</source>
        <translation>Konturen skizzieren</translation>
    </message>
    <message>
        <source>Segments</source>
        <translation>Segmente</translation>
    </message>
    <message>
        <source>Soft edges (HED)</source>
        <translation>Weiche Kanten (HED)</translation>
    </message>
    <message>
        <source>Soft edges (PiDi)</source>
        <translation>Weiche Kanten (PiDi)</translation>
    </message>
    <message>
        <source>Straight lines</source>
        <translation>Gerade Linien</translation>
    </message>
    <message>
        <source>Surface normals</source>
        <translation>Oberflächennormalen</translation>
    </message>
    <message>
        <source>Tile</source>
        <translation>Kachel</translation>
    </message>
    <message>
        <source>Use as it is</source>
        <translation>Unverändert verwenden</translation>
    </message>
</context>
<context>
    <name>ControlList</name>
    <message>
        <source>Add control image</source>
        <translation>Kontrollbild hinzufügen</translation>
    </message>
    <message>
        <source>Add control image…</source>
        <translation>Kontrollbild hinzufügen…</translation>
    </message>
    <message>
        <source>Choose a ControlNet</source>
        <translation>ControlNet wählen</translation>
    </message>
    <message>
        <source>Choose a mask</source>
        <translation>Maske wählen</translation>
    </message>
    <message>
        <source>Choose an image encoder</source>
        <translation>Bildencoder wählen</translation>
    </message>
    <message>
        <source>Choose control images</source>
        <translation>Kontrollbilder wählen</translation>
    </message>
    <message>
        <source>Choose images, or drop them here</source>
        <translation>Bilder wählen oder hier ablegen</translation>
    </message>
    <message>
        <source>PNG image (*.png)</source>
        <translation>PNG-Bild (*.png)</translation>
    </message>
    <message>
        <source>Save control image</source>
        <translation>Kontrollbild speichern</translation>
    </message>
</context>
<context>
    <name>ControlPreviewBox</name>
    <message>
        <source>Keep what is made of {name} with results</source>
        <translation>Aufbewahren, was aus {name} gemacht wird</translation>
    </message>
    <message>
        <source>Keep with results</source>
        <translation>Bei den Ergebnissen aufbewahren</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>Wird vorbereitet…</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Vorschau</translation>
    </message>
    <message>
        <source>Preview {name}</source>
        <translation>Vorschau von {name}</translation>
    </message>
    <message>
        <source>Save what is made of the image</source>
        <translation>Speichert, was aus dem Bild gemacht wird</translation>
    </message>
    <message>
        <source>Save what is made of the image beside each result</source>
        <translation>Speichert, was aus dem Bild gemacht wird, neben jedem Ergebnis</translation>
    </message>
    <message>
        <source>Save what is made of {name}</source>
        <translation>Speichern, was aus {name} gemacht wird</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Speichern…</translation>
    </message>
    <message>
        <source>Show what is made of the image, as the ControlNet is given it</source>
        <translation>Zeigt, was aus dem Bild gemacht wird, so wie das ControlNet es bekommt</translation>
    </message>
    <message>
        <source>What is made of {name}</source>
        <translation>Was aus {name} gemacht wird</translation>
    </message>
</context>
<context>
    <name>ControlPreviews</name>
    <message>
        <source>Saved as {path}</source>
        <translation>Gespeichert als {path}</translation>
    </message>
</context>
<context>
    <name>ControlRow</name>
    <message>
        <source>Applies to</source>
        <translation>Gilt für</translation>
    </message>
    <message>
        <source>Apply everywhere</source>
        <translation>Überall anwenden</translation>
    </message>
    <message>
        <source>Apply {name} everywhere</source>
        <translation>{name} überall anwenden</translation>
    </message>
    <message>
        <source>As the ControlNet does</source>
        <translation>Wie vom ControlNet vorgegeben</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Choose ControlNet for {name}</source>
        <translation>ControlNet für {name} wählen</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>Datei wählen…</translation>
    </message>
    <message>
        <source>Choose an image that is white where an IP-Adapter&apos;s image is to apply</source>
        <translation>Ein Bild wählen, das weiß ist, wo das Bild eines IP-Adapters gelten soll</translation>
    </message>
    <message>
        <source>Choose image encoder for {name}</source>
        <translation>Bildencoder für {name} wählen</translation>
    </message>
    <message>
        <source>Choose mask for {name}</source>
        <translation>Maske für {name} wählen</translation>
    </message>
    <message>
        <source>Choose the file of a ControlNet or IP-Adapter, or drop it on the list</source>
        <translation>Die Datei eines ControlNets oder IP-Adapters wählen oder auf die Liste ziehen</translation>
    </message>
    <message>
        <source>Choose the file of the image encoder that an IP-Adapter uses</source>
        <translation>Die Datei des Bildencoders wählen, den ein IP-Adapter verwendet</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>ControlNet</source>
        <translation>ControlNet</translation>
    </message>
    <message>
        <source>Encoder</source>
        <translation>Encoder</translation>
    </message>
    <message>
        <source>Everywhere</source>
        <translation>Überall</translation>
    </message>
    <message>
        <source>Find the encoder automatically</source>
        <translation>Den Encoder automatisch finden</translation>
    </message>
    <message>
        <source>Find the encoder for {name} automatically</source>
        <translation>Encoder für {name} automatisch finden</translation>
    </message>
    <message>
        <source>How strongly the control image is followed</source>
        <translation>Wie stark dem Kontrollbild gefolgt wird</translation>
    </message>
    <message>
        <source>How {name} is prepared</source>
        <translation>Vorbereitung von {name}</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch keines</translation>
    </message>
    <message>
        <source>Prepare</source>
        <translation>Vorbereiten</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <source>Shows</source>
        <translation>Zeigt</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Steps of {name}, end</source>
        <translation>Schritte von {name}, Ende</translation>
    </message>
    <message>
        <source>Steps of {name}, start</source>
        <translation>Schritte von {name}, Anfang</translation>
    </message>
    <message>
        <source>The part of the steps in which the control image is followed</source>
        <translation>Der Teil der Schritte, in dem dem Kontrollbild gefolgt wird</translation>
    </message>
    <message>
        <source>Use control image {name}</source>
        <translation>Kontrollbild {name} verwenden</translation>
    </message>
    <message>
        <source>Use no ControlNet for {name}</source>
        <translation>Kein ControlNet für {name} verwenden</translation>
    </message>
    <message>
        <source>Use no ControlNet: the model follows the image by itself</source>
        <translation>Kein ControlNet verwenden: Das Modell folgt dem Bild selbst</translation>
    </message>
    <message>
        <source>Weight</source>
        <translation>Gewicht</translation>
    </message>
    <message>
        <source>Weight of {name}</source>
        <translation>Gewicht von {name}</translation>
    </message>
    <message>
        <source>Weight of {name}, slider</source>
        <translation>Gewicht von {name}, Regler</translation>
    </message>
    <message>
        <source>What is made of the image first</source>
        <translation>Was zuerst aus dem Bild gemacht wird</translation>
    </message>
    <message>
        <source>What the image shows; a union ControlNet must know it</source>
        <translation>Was das Bild zeigt; ein Union-ControlNet muss es wissen</translation>
    </message>
    <message>
        <source>What {name} shows</source>
        <translation>Was {name} zeigt</translation>
    </message>
</context>
<context>
    <name>Create</name>
    <message>
        <source>A LoRA&apos;s weight must be from {least} to {most}.</source>
        <translation>Das Gewicht einer LoRA muss zwischen {least} und {most} liegen.</translation>
    </message>
    <message>
        <source>Choose a ControlNet for {name}.</source>
        <translation>Wählen Sie ein ControlNet für {name}.</translation>
    </message>
    <message>
        <source>Lanczos works on pixels. Choose pixels, or another method.</source>
        <translation>Lanczos arbeitet mit Pixeln. Pixel oder eine andere Methode wählen.</translation>
    </message>
    <message>
        <source>No model yet. Download one or add a folder on the Models page.</source>
        <translation>Noch kein Modell. Auf der Seite „Modelle“ eines herunterladen oder einen Ordner hinzufügen.</translation>
    </message>
    <message>
        <source>Number of images must be from 1 to {most}.</source>
        <translation>Die Anzahl der Bilder muss zwischen 1 und {most} liegen.</translation>
    </message>
    <message>
        <source>Refiner switch at must be between 0 and 1, such as 0.8.</source>
        <translation>„Wechsel zum Refiner bei“ muss zwischen 0 und 1 liegen, z. B. 0,8.</translation>
    </message>
    <message>
        <source>The hires fix would exceed {most} megapixels.</source>
        <translation>Der Hires-Fix würde {most} Megapixel überschreiten.</translation>
    </message>
    <message>
        <source>The model {name} is no longer installed. Choose another.</source>
        <translation>Das Modell {name} ist nicht mehr installiert. Ein anderes wählen.</translation>
    </message>
    <message>
        <source>The refiner {name} does not work with this model, or is no longer installed.</source>
        <translation>Der Refiner {name} passt nicht zu diesem Modell oder ist nicht mehr installiert.</translation>
    </message>
    <message>
        <source>The seed must be from 0 to {most}.</source>
        <translation>Der Seed muss zwischen 0 und {most} liegen.</translation>
    </message>
    <message>
        <source>The text contains an invalid character (half of a pair). Remove it.</source>
        <translation>Der Text enthält ein ungültiges Zeichen (die Hälfte eines Paars). Bitte entfernen.</translation>
    </message>
    <message>
        <source>This model does not support clip skip. Set it to 0.</source>
        <translation>Dieses Modell unterstützt kein Clip-Skip. Auf 0 setzen.</translation>
    </message>
    <message>
        <source>This model does not support control images. Switch them off.</source>
        <translation>Dieses Modell unterstützt keine Kontrollbilder. Schalten Sie sie aus.</translation>
    </message>
    <message>
        <source>This model does not support embeddings. Remove them.</source>
        <translation>Dieses Modell unterstützt keine Embeddings. Bitte entfernen.</translation>
    </message>
    <message>
        <source>This model does not support regional prompts. Remove them.</source>
        <translation>Dieses Modell unterstützt keine regionalen Prompts. Entfernen Sie sie.</translation>
    </message>
    <message>
        <source>This model needs a control image without a ControlNet. Add one.</source>
        <translation>Dieses Modell benötigt ein Kontrollbild ohne ControlNet. Fügen Sie eines hinzu.</translation>
    </message>
    <message>
        <source>Write a prompt first.</source>
        <translation>Zuerst einen Prompt schreiben.</translation>
    </message>
    <message>
        <source>guidance</source>
        <translation>Guidance</translation>
    </message>
    <message>
        <source>model {name}</source>
        <translation>Modell {name}</translation>
    </message>
    <message>
        <source>prompts of single stages</source>
        <translation>Prompts einzelner Stufen</translation>
    </message>
    <message>
        <source>sampler</source>
        <translation>Sampler</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>settings of the conditional refiner</source>
        <translation>Einstellungen des bedingten Refiners</translation>
    </message>
    <message>
        <source>settings of the hires fix</source>
        <translation>Einstellungen des Hires-Fix</translation>
    </message>
    <message>
        <source>settings of the refiner</source>
        <translation>Einstellungen des Refiners</translation>
    </message>
    <message>
        <source>size of the hires fix</source>
        <translation>Größe des Hires-Fix</translation>
    </message>
    <message>
        <source>stage {number} of the cascade</source>
        <translation>Stufe {number} der Kaskade</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>{count} LoRAs are too many: the limit is {most}.</source>
        <translation>{count} LoRAs sind zu viele: höchstens {most}.</translation>
    </message>
    <message>
        <source>{count} characters are too many: the limit is {most}.</source>
        <translation>{count} Zeichen sind zu viele: höchstens {most}.</translation>
    </message>
    <message>
        <source>{count} control images are too many: the limit is {most}.</source>
        <translation>{count} Kontrollbilder sind zu viele: höchstens {most} sind möglich.</translation>
    </message>
    <message>
        <source>{count} reference images are too many: {name} takes at most {most}.</source>
        <translation>{count} Referenzbilder sind zu viele: {name} nimmt höchstens {most}.</translation>
    </message>
    <message>
        <source>{name} must be from {low} to {high}.</source>
        <translation>{name}: muss zwischen {low} und {high} liegen.</translation>
    </message>
    <message>
        <source>{name} takes no reference images. Remove them, or choose a model that edits.</source>
        <translation>{name} nimmt keine Referenzbilder. Bilder entfernen oder ein Modell wählen, das bearbeitet.</translation>
    </message>
    <message>
        <source>{size} is not possible: sides must be multiples of {multiple} and at least {least}. The nearest size is {near}.</source>
        <translation>{size} ist nicht möglich: Die Seiten müssen Vielfache von {multiple} und mindestens {least} sein. Die nächste Größe ist {near}.</translation>
    </message>
    <message>
        <source>{size} is too large: the limit is {most} megapixels.</source>
        <translation>{size} ist zu groß: höchstens {most} Megapixel.</translation>
    </message>
</context>
<context>
    <name>CreateBasics</name>
    <message>
        <source>How many images to generate; their seeds count up</source>
        <translation>Wie viele Bilder generiert werden; ihre Seeds zählen hoch</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Number of images</source>
        <translation>Anzahl der Bilder</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>The first reference image decides the size.</source>
        <translation>Das erste Referenzbild bestimmt die Größe.</translation>
    </message>
    <message>
        <source>The init image decides the size.</source>
        <translation>Das Ausgangsbild bestimmt die Größe.</translation>
    </message>
    <message>
        <source>The model to generate with</source>
        <translation>Das Modell, mit dem generiert wird</translation>
    </message>
</context>
<context>
    <name>CreateFooter</name>
    <message>
        <source>Add to the queue (Ctrl+Enter), or to its front (Ctrl+Shift+Enter)</source>
        <translation>In die Warteschlange (Strg+Enter) oder an deren Anfang (Strg+Umschalt+Enter)</translation>
    </message>
    <message>
        <source>Copy as command line</source>
        <translation>Als Befehlszeile kopieren</translation>
    </message>
    <message>
        <source>Generate</source>
        <translation>Generieren</translation>
    </message>
    <message>
        <source>Generate next</source>
        <translation>Als Nächstes generieren</translation>
    </message>
    <message>
        <source>Generate {count} images</source>
        <translation>{count} Bilder generieren</translation>
    </message>
    <message>
        <source>Grid…</source>
        <translation>Raster…</translation>
    </message>
    <message>
        <source>More ways to generate</source>
        <translation>Weitere Arten zu generieren</translation>
    </message>
    <message>
        <source>Save job file…</source>
        <translation>Auftragsdatei speichern…</translation>
    </message>
    <message>
        <source>Why this plan</source>
        <translation>Warum dieser Plan</translation>
    </message>
</context>
<context>
    <name>CreateMemory</name>
    <message>
        <source>4 bits</source>
        <translation>4 Bit</translation>
    </message>
    <message>
        <source>4 bits with low-rank correction</source>
        <translation>4 Bit mit Low-Rank-Korrektur</translation>
    </message>
    <message>
        <source>4 bits, codebook</source>
        <translation>4 Bit, Codebuch</translation>
    </message>
    <message>
        <source>4 bits, inputs too</source>
        <translation>4 Bit, auch die Eingaben</translation>
    </message>
    <message>
        <source>4 bits, inputs too, with low-rank correction</source>
        <translation>4 Bit, auch die Eingaben, mit Low-Rank-Korrektur</translation>
    </message>
    <message>
        <source>4-bit floats</source>
        <translation>4-Bit-Gleitkomma</translation>
    </message>
    <message>
        <source>8 bits</source>
        <translation>8 Bit</translation>
    </message>
    <message>
        <source>8 bits, weights only</source>
        <translation>8 Bit, nur Gewichte</translation>
    </message>
    <message>
        <source>8-bit floats</source>
        <translation>8-Bit-Gleitkomma</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Automatic: original where it fits</source>
        <translation>Automatisch: original, wo es passt</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>CUDA graphs</source>
        <translation>CUDA-Graphen</translation>
    </message>
    <message>
        <source>Compile the model</source>
        <translation>Modell kompilieren</translation>
    </message>
    <message>
        <source>Fast: shortest time</source>
        <translation>Schnell: kürzeste Zeit</translation>
    </message>
    <message>
        <source>Faster on NVIDIA GeForce cards, slightly less accurate; ignored on other devices</source>
        <translation>Schneller auf NVIDIA-GeForce-Karten, etwas weniger genau; auf anderen Geräten ohne Wirkung</translation>
    </message>
    <message>
        <source>How much quality and speed to trade for less memory; for all models</source>
        <translation>Wie viel Qualität und Tempo für weniger Speicher geopfert wird; für alle Modelle</translation>
    </message>
    <message>
        <source>Launches each step as one CUDA graph, on NVIDIA cards that hold the whole model</source>
        <translation>Startet jeden Schritt als einen CUDA-Graphen, auf NVIDIA-Karten, in die das ganze Modell passt</translation>
    </message>
    <message>
        <source>Lowest: least memory</source>
        <translation>Minimal: am wenigsten Speicher</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>Original</source>
        <translation>Original</translation>
    </message>
    <message>
        <source>Quantized weights need less memory; images differ slightly</source>
        <translation>Quantisierte Gewichte brauchen weniger Speicher; Bilder weichen leicht ab</translation>
    </message>
    <message>
        <source>Text encoder weights</source>
        <translation>Gewichte der Text-Encoder</translation>
    </message>
    <message>
        <source>The first image of a size takes minutes longer, the next ones less time</source>
        <translation>Das erste Bild einer Größe dauert Minuten länger, die nächsten gehen schneller</translation>
    </message>
    <message>
        <source>The same for the text encoders</source>
        <translation>Dasselbe für die Text-Encoder</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>float16 accumulation</source>
        <translation>float16-Akkumulation</translation>
    </message>
</context>
<context>
    <name>CreateModel</name>
    <message numerus="yes">
        <source>%n images of the batch are waiting in the queue.</source>
        <translation>
            <numerusform>%n Bild des Batches wartet in der Warteschlange.</numerusform>
            <numerusform>%n Bilder des Batches warten in der Warteschlange.</numerusform>
        </translation>
    </message>
    <message>
        <source>No installed model edits by instruction. FLUX.2 Klein, FLUX.1 Kontext and Qwen-Image-Edit do: download one on the Models page.</source>
        <translation>Kein installiertes Modell bearbeitet nach Anweisung. FLUX.2 Klein, FLUX.1 Kontext und Qwen-Image-Edit tun es: eines auf der Modelle-Seite herunterladen.</translation>
    </message>
    <message>
        <source>Not copied: {names}.</source>
        <translation>Nicht kopiert: {names}.</translation>
    </message>
    <message>
        <source>Nothing was queued: {0}</source>
        <translation>Nichts eingereiht: {0}</translation>
    </message>
    <message>
        <source>The command leaves out: {names}.</source>
        <translation>Im Befehl fehlt: {names}.</translation>
    </message>
    <message>
        <source>The image has no seed in its metadata.</source>
        <translation>Das Bild hat keinen Seed in seinen Metadaten.</translation>
    </message>
    <message>
        <source>model {name}, which is not installed</source>
        <translation>Modell {name}, das nicht installiert ist</translation>
    </message>
</context>
<context>
    <name>CreatePage</name>
    <message>
        <source>Command copied to the clipboard.</source>
        <translation>Befehl in die Zwischenablage kopiert.</translation>
    </message>
</context>
<context>
    <name>CreatePrompts</name>
    <message>
        <source>Drawn for each image, for example:</source>
        <translation>Für jedes Bild ausgelost, zum Beispiel:</translation>
    </message>
    <message>
        <source>Earlier prompts</source>
        <translation>Frühere Prompts</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativ-Prompt</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>The negative prompt is ignored at a CFG scale of 1 or less.</source>
        <translation>Der Negativ-Prompt hat bei einer CFG-Skala von 1 oder weniger keine Wirkung.</translation>
    </message>
    <message>
        <source>The text would have {count} characters; the limit is {most}. Nothing was pasted.</source>
        <translation>Der Text hätte {count} Zeichen, höchstens {most} sind möglich. Es wurde nichts eingefügt.</translation>
    </message>
    <message>
        <source>This model ignores prompt weights; nothing was changed.</source>
        <translation>Dieses Modell beachtet keine Prompt-Gewichte; nichts wurde geändert.</translation>
    </message>
    <message>
        <source>This model ignores the negative prompt.</source>
        <translation>Dieses Modell ignoriert den negativen Prompt.</translation>
    </message>
    <message>
        <source>What the image is to show. Ctrl+Up and Ctrl+Down: change the weight of the word; Alt+Up and Alt+Down: earlier prompts; {red|blue}: one image for each; Ctrl+Enter: Generate</source>
        <translation>Was das Bild zeigen soll. Strg+Hoch und Strg+Herunter: die Gewichtung des Wortes ändern; Alt+Hoch und Alt+Herunter: frühere Prompts; {red|blue}: ein Bild für jede Alternative; Strg+Enter: Generieren</translation>
    </message>
    <message>
        <source>What the image should not show; optional</source>
        <translation>Was das Bild nicht zeigen soll; optional</translation>
    </message>
    <message>
        <source>Wildcards…</source>
        <translation>Wildcards …</translation>
    </message>
    <message>
        <source>{count} different prompts, one after another</source>
        <translation>{count} verschiedene Prompts nacheinander</translation>
    </message>
</context>
<context>
    <name>CreateResult</name>
    <message>
        <source>Adjustments</source>
        <translation>Anpassungen</translation>
    </message>
    <message>
        <source>Back to the image being generated</source>
        <translation>Zurück zum Bild, das gerade generiert wird</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancel only this image and continue with the next</source>
        <translation>Nur dieses Bild abbrechen und mit dem nächsten weitermachen</translation>
    </message>
    <message>
        <source>Cancel the current job</source>
        <translation>Den laufenden Auftrag abbrechen</translation>
    </message>
    <message>
        <source>Compare with the first stage</source>
        <translation>Mit der ersten Stufe vergleichen</translation>
    </message>
    <message>
        <source>Do not start the engine now</source>
        <translation>Die Engine jetzt nicht starten</translation>
    </message>
    <message>
        <source>Edit this image</source>
        <translation>Dieses Bild bearbeiten</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Vollbild</translation>
    </message>
    <message>
        <source>Images wait in the queue until the engine is started</source>
        <translation>Bilder warten in der Warteschlange, bis die Engine gestartet ist</translation>
    </message>
    <message>
        <source>Load settings…</source>
        <translation>Einstellungen laden…</translation>
    </message>
    <message>
        <source>Open in canvas</source>
        <translation>Auf der Arbeitsfläche öffnen</translation>
    </message>
    <message>
        <source>Progress of the image</source>
        <translation>Fortschritt des Bildes</translation>
    </message>
    <message>
        <source>Reuse seed</source>
        <translation>Seed wiederverwenden</translation>
    </message>
    <message>
        <source>Show the current image</source>
        <translation>Das aktuelle Bild anzeigen</translation>
    </message>
    <message>
        <source>Skip this image</source>
        <translation>Dieses Bild überspringen</translation>
    </message>
    <message>
        <source>Stop now; saved images are kept</source>
        <translation>Jetzt stoppen; gespeicherte Bilder bleiben erhalten</translation>
    </message>
    <message>
        <source>Use as init image</source>
        <translation>Als Ausgangsbild verwenden</translation>
    </message>
    <message>
        <source>Write a prompt and press Generate. The image appears here.</source>
        <translation>Einen Prompt schreiben und auf „Generieren“ klicken. Das Bild erscheint hier.</translation>
    </message>
</context>
<context>
    <name>CreateSampling</name>
    <message>
        <source>CFG {guidance}</source>
        <translation>CFG {guidance}</translation>
    </message>
    <message>
        <source>Guidance</source>
        <translation>Guidance</translation>
    </message>
    <message>
        <source>Model default</source>
        <translation>Modellstandard</translation>
    </message>
    <message>
        <source>guidance {guidance}</source>
        <translation>Guidance {guidance}</translation>
    </message>
    <message>
        <source>{steps} steps</source>
        <translation>{steps} Schritte</translation>
    </message>
</context>
<context>
    <name>CreateSections</name>
    <message>
        <source>1 in use</source>
        <translation>1 verwendet</translation>
    </message>
    <message>
        <source>Add embeddings…</source>
        <translation>Embeddings hinzufügen…</translation>
    </message>
    <message>
        <source>Control</source>
        <translation>Kontrolle</translation>
    </message>
    <message>
        <source>Control images</source>
        <translation>Kontrollbilder</translation>
    </message>
    <message>
        <source>Detail passes</source>
        <translation>Detaildurchgänge</translation>
    </message>
    <message>
        <source>Edit or combine images by an instruction</source>
        <translation>Bilder nach Anweisung bearbeiten oder kombinieren</translation>
    </message>
    <message>
        <source>Embeddings (textual inversion)</source>
        <translation>Embeddings (Textual Inversion)</translation>
    </message>
    <message>
        <source>Faces, people and others, inpainted at full size</source>
        <translation>Gesichter, Menschen und anderes, in voller Größe neu gemalt</translation>
    </message>
    <message>
        <source>Find and make anew</source>
        <translation>Finden und neu erzeugen</translation>
    </message>
    <message>
        <source>From an image: {names}</source>
        <translation>Aus einem Bild: {names}</translation>
    </message>
    <message>
        <source>Image to image, inpaint and outpaint</source>
        <translation>Bild zu Bild, Inpainting und Outpainting</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Images whose layout is followed, by a ControlNet</source>
        <translation>Bilder, deren Aufbau ein ControlNet folgt</translation>
    </message>
    <message>
        <source>Init image</source>
        <translation>Ausgangsbild</translation>
    </message>
    <message>
        <source>Less computing, at some loss of fidelity</source>
        <translation>Weniger Rechenaufwand bei etwas geringerer Bildtreue</translation>
    </message>
    <message>
        <source>LoRA</source>
        <translation>LoRA</translation>
    </message>
    <message>
        <source>LoRA files</source>
        <translation>LoRA-Dateien</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>More than one stage per image</source>
        <translation>Mehr als eine Stufe pro Bild</translation>
    </message>
    <message>
        <source>Parts of the image with prompts of their own</source>
        <translation>Teile des Bildes mit eigenen Prompts</translation>
    </message>
    <message>
        <source>Reference images</source>
        <translation>Referenzbilder</translation>
    </message>
    <message>
        <source>Refiner and hires fix</source>
        <translation>Refiner und Hires-Fix</translation>
    </message>
    <message>
        <source>Regional prompts</source>
        <translation>Regionale Prompts</translation>
    </message>
    <message>
        <source>Regions</source>
        <translation>Regionen</translation>
    </message>
    <message>
        <source>Reset all settings of this model; the prompt stays</source>
        <translation>Alle Einstellungen dieses Modells zurücksetzen; der Prompt bleibt</translation>
    </message>
    <message>
        <source>Reset to model default</source>
        <translation>Auf Modellstandard zurücksetzen</translation>
    </message>
    <message>
        <source>Reset to model defaults</source>
        <translation>Auf Modellstandards zurücksetzen</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>Small files that add a style or a subject</source>
        <translation>Kleine Dateien, die einen Stil oder ein Motiv hinzufügen</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Geschwindigkeit</translation>
    </message>
    <message>
        <source>Steps, CFG scale, sampler and schedule</source>
        <translation>Schritte, CFG-Skala, Sampler und Schedule</translation>
    </message>
    <message>
        <source>Textual inversion files, used by their names in the prompt</source>
        <translation>Textual-Inversion-Dateien, im Prompt über ihre Namen verwendet</translation>
    </message>
    <message>
        <source>VAE {value}</source>
        <translation>VAE {value}</translation>
    </message>
    <message>
        <source>Weight precision and memory use</source>
        <translation>Genauigkeit der Gewichte und Speicherbedarf</translation>
    </message>
    <message>
        <source>hires fix</source>
        <translation>Hires-Fix</translation>
    </message>
    <message>
        <source>prediction type {value}</source>
        <translation>Vorhersagetyp {value}</translation>
    </message>
    <message>
        <source>strict</source>
        <translation>strikt</translation>
    </message>
    <message>
        <source>text encoders {value}</source>
        <translation>Textencoder {value}</translation>
    </message>
    <message>
        <source>variation seed {value}</source>
        <translation>Variations-Seed {value}</translation>
    </message>
    <message>
        <source>variation strength {value}</source>
        <translation>Variationsstärke {value}</translation>
    </message>
    <message>
        <source>zero terminal SNR {value}</source>
        <translation>Zero Terminal SNR {value}</translation>
    </message>
    <message>
        <source>{count} in use</source>
        <translation>{count} verwendet</translation>
    </message>
    <message>
        <source>{value} precision</source>
        <translation>Genauigkeit {value}</translation>
    </message>
    <message>
        <source>{value} weights</source>
        <translation>Gewichte {value}</translation>
    </message>
    <message>
        <source>{value}-pixel tiles</source>
        <translation>Kacheln von {value} Pixeln</translation>
    </message>
</context>
<context>
    <name>CreateSpeed</name>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Change below {share} %</source>
        <translation>Änderung unter {share} %</translation>
    </message>
    <message>
        <source>Fewer keys and values (ToDo)</source>
        <translation>Weniger Keys und Values (ToDo)</translation>
    </message>
    <message>
        <source>Large tiles by themselves (HyperTile)</source>
        <translation>Große Kacheln für sich (HyperTile)</translation>
    </message>
    <message>
        <source>Nearby tiles</source>
        <translation>Benachbarte Kacheln</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Sides divided by {factor}</source>
        <translation>Seiten geteilt durch {factor}</translation>
    </message>
    <message>
        <source>Similar tiles only</source>
        <translation>Nur ähnliche Kacheln</translation>
    </message>
    <message>
        <source>Similar tiles, means of others</source>
        <translation>Ähnliche Kacheln, Mittel der anderen</translation>
    </message>
    <message>
        <source>Similar tokens merged (ToMe)</source>
        <translation>Ähnliche Token zusammengefasst (ToMe)</translation>
    </message>
    <message>
        <source>{side} pixels</source>
        <translation>{side} Pixel</translation>
    </message>
</context>
<context>
    <name>CropDelegate</name>
    <message>
        <source>Caption</source>
        <translation>Bildbeschreibung</translation>
    </message>
    <message>
        <source>Describe what it shows. Enter saves; Shift+Enter adds an alternative caption</source>
        <translation>Beschreiben, was zu sehen ist. Enter speichert; Umschalt+Enter fügt eine alternative Beschreibung hinzu</translation>
    </message>
    <message>
        <source>No caption: double-click to write one</source>
        <translation>Keine Beschreibung: zum Schreiben doppelklicken</translation>
    </message>
</context>
<context>
    <name>DatasetModel</name>
    <message>
        <source>Regularization image</source>
        <translation>Regularisierungsbild</translation>
    </message>
    <message>
        <source>no caption</source>
        <translation>keine Beschreibung</translation>
    </message>
    <message>
        <source>{width} × {height} pixels, used as {used_width} × {used_height}</source>
        <translation>{width} × {height} Pixel, verwendet als {used_width} × {used_height}</translation>
    </message>
</context>
<context>
    <name>DatasetPane</name>
    <message>
        <source>A folder with 10 to 50 images of what is to be learned</source>
        <translation>Ein Ordner mit 10 bis 50 Bildern von dem, was gelernt werden soll</translation>
    </message>
    <message>
        <source>Choose a folder with images of one thing, person or style, or drop it here. The result is a LoRA: a small file that adds it to the model.</source>
        <translation>Einen Ordner mit Bildern eines Gegenstands, einer Person oder eines Stils wählen oder hier ablegen. Das Ergebnis ist eine LoRA: eine kleine Datei, die das Modell darum erweitert.</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>Ordner wählen …</translation>
    </message>
    <message>
        <source>Edit caption</source>
        <translation>Beschreibung bearbeiten</translation>
    </message>
    <message>
        <source>Images with their captions</source>
        <translation>Bilder mit ihren Beschreibungen</translation>
    </message>
    <message>
        <source>No images to learn from</source>
        <translation>Keine Bilder zum Lernen</translation>
    </message>
    <message>
        <source>Read the folder again, after images or captions were changed elsewhere</source>
        <translation>Den Ordner neu lesen, nachdem Bilder oder Beschreibungen anderswo geändert wurden</translation>
    </message>
    <message>
        <source>Reading the images…</source>
        <translation>Bilder werden gelesen …</translation>
    </message>
    <message>
        <source>Rescan</source>
        <translation>Neu einlesen</translation>
    </message>
    <message>
        <source>Teach a model something new</source>
        <translation>Einem Modell etwas Neues beibringen</translation>
    </message>
    <message>
        <source>Try it with sample images</source>
        <translation>Mit Beispielbildern ausprobieren</translation>
    </message>
    <message>
        <source>Twenty images of a purple castle, which the small bundled model learns in a minute</source>
        <translation>Zwanzig Bilder eines violetten Schlosses, das das kleine mitgelieferte Modell in einer Minute lernt</translation>
    </message>
    <message>
        <source>Write what the selected image shows (F2, or double-click it)</source>
        <translation>Schreiben, was das ausgewählte Bild zeigt (F2 oder Doppelklick)</translation>
    </message>
</context>
<context>
    <name>Dates</name>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
</context>
<context>
    <name>Deadlines</name>
    <message>
        <source>it had just saved an image</source>
        <translation>gerade hatte sie ein Bild gespeichert</translation>
    </message>
    <message>
        <source>it was decoding an image</source>
        <translation>beim Dekodieren eines Bildes</translation>
    </message>
    <message>
        <source>it was denoising an image</source>
        <translation>beim Entrauschen eines Bildes</translation>
    </message>
    <message>
        <source>it was encoding the prompt</source>
        <translation>beim Kodieren des Prompts</translation>
    </message>
    <message>
        <source>it was loading a model</source>
        <translation>beim Laden eines Modells</translation>
    </message>
    <message>
        <source>it was preparing a job</source>
        <translation>beim Vorbereiten eines Auftrags</translation>
    </message>
</context>
<context>
    <name>DetailList</name>
    <message>
        <source>Add detail pass</source>
        <translation>Detaildurchgang hinzufügen</translation>
    </message>
    <message>
        <source>Finds objects of a kind in the finished image and makes each anew at full size</source>
        <translation>Findet im fertigen Bild Objekte einer Art und erzeugt jedes neu in voller Größe</translation>
    </message>
</context>
<context>
    <name>DetailRow</name>
    <message>
        <source>A label of a detector among your models, such as person</source>
        <translation>Eine Bezeichnung, die ein Detektor unter Ihren Modellen kennt, etwa person</translation>
    </message>
    <message>
        <source>Confidence of detail pass {number}</source>
        <translation>Sicherheit von Detaildurchgang {number}</translation>
    </message>
    <message>
        <source>Denoising strength: low sharpens, high invents</source>
        <translation>Entrauschungsstärke: niedrig schärft, hoch erfindet</translation>
    </message>
    <message>
        <source>How sure the detector must be: 0 takes everything, 1 nothing</source>
        <translation>Wie sicher der Detektor sein muss: 0 nimmt alles, 1 nichts</translation>
    </message>
    <message>
        <source>Prompt of detail pass {number}</source>
        <translation>Prompt von Detaildurchgang {number}</translation>
    </message>
    <message>
        <source>Remove detail pass {number}</source>
        <translation>Detaildurchgang {number} entfernen</translation>
    </message>
    <message>
        <source>Strength of detail pass {number}</source>
        <translation>Stärke von Detaildurchgang {number}</translation>
    </message>
    <message>
        <source>What is found {number}</source>
        <translation>Was gefunden wird {number}</translation>
    </message>
    <message>
        <source>What the found parts show</source>
        <translation>Was die gefundenen Teile zeigen</translation>
    </message>
    <message>
        <source>confidence </source>
        <translation>Sicherheit </translation>
    </message>
    <message>
        <source>strength </source>
        <translation>Stärke </translation>
    </message>
    <message>
        <source>such as face</source>
        <translation>etwa face</translation>
    </message>
    <message>
        <source>the image&apos;s prompt</source>
        <translation>der Prompt des Bildes</translation>
    </message>
</context>
<context>
    <name>Dialogs</name>
    <message>
        <source>Job files</source>
        <translation>Auftragsdateien</translation>
    </message>
    <message>
        <source>Save job file</source>
        <translation>Auftragsdatei speichern</translation>
    </message>
</context>
<context>
    <name>Differences</name>
    <message>
        <source>Control images</source>
        <translation>Kontrollbilder</translation>
    </message>
    <message>
        <source>Detail passes</source>
        <translation>Detaildurchgänge</translation>
    </message>
    <message>
        <source>Embeddings</source>
        <translation>Embeddings</translation>
    </message>
    <message>
        <source>Hires fix</source>
        <translation>Hires-Fix</translation>
    </message>
    <message>
        <source>Hires fix and refiner</source>
        <translation>Hires-Fix und Refiner</translation>
    </message>
    <message>
        <source>Init image</source>
        <translation>Ausgangsbild</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativ-Prompt</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Quantization</source>
        <translation>Quantisierung</translation>
    </message>
    <message>
        <source>Reference images</source>
        <translation>Referenzbilder</translation>
    </message>
    <message>
        <source>Refined with</source>
        <translation>Verfeinert mit</translation>
    </message>
    <message>
        <source>Refiner</source>
        <translation>Refiner</translation>
    </message>
    <message>
        <source>Regional prompts</source>
        <translation>Regionale Prompts</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>Stärke</translation>
    </message>
    <message>
        <source>denoising strength {value}</source>
        <translation>Denoising-Stärke {value}</translation>
    </message>
    <message>
        <source>from {part} of the steps</source>
        <translation>ab {part} der Schritte</translation>
    </message>
    <message>
        <source>model default</source>
        <translation>Modellstandard</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>random</source>
        <translation>zufällig</translation>
    </message>
    <message>
        <source>the same model</source>
        <translation>dasselbe Modell</translation>
    </message>
    <message>
        <source>{value} (default)</source>
        <translation>{value} (Standard)</translation>
    </message>
</context>
<context>
    <name>DifferencesDialog</name>
    <message numerus="yes">
        <source>(%n more characters not shown; Apply uses the full text)</source>
        <translation>
            <numerusform>(%n weiteres Zeichen nicht angezeigt; beim Anwenden gilt der ganze Text)</numerusform>
            <numerusform>(%n weitere Zeichen nicht angezeigt; beim Anwenden gilt der ganze Text)</numerusform>
        </translation>
    </message>
    <message>
        <source>(empty)</source>
        <translation>(leer)</translation>
    </message>
    <message>
        <source>An image</source>
        <translation>Ein Bild</translation>
    </message>
    <message>
        <source>Apply all</source>
        <translation>Alles anwenden</translation>
    </message>
    <message>
        <source>Apply everything in the list</source>
        <translation>Alles in der Liste anwenden</translation>
    </message>
    <message>
        <source>Apply only the prompt and the negative prompt</source>
        <translation>Nur Prompt und Negativ-Prompt anwenden</translation>
    </message>
    <message>
        <source>Apply only the seed</source>
        <translation>Nur den Seed anwenden</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Differences from the current settings</source>
        <translation>Unterschiede zu den aktuellen Einstellungen</translation>
    </message>
    <message>
        <source>Ignore the settings and use this as the init image</source>
        <translation>Die Einstellungen ignorieren und dies als Ausgangsbild verwenden</translation>
    </message>
    <message>
        <source>Image settings</source>
        <translation>Bildeinstellungen</translation>
    </message>
    <message>
        <source>In the image</source>
        <translation>Im Bild</translation>
    </message>
    <message>
        <source>In the image, full text</source>
        <translation>Im Bild, vollständiger Text</translation>
    </message>
    <message>
        <source>Its settings are the same as the current ones.</source>
        <translation>Seine Einstellungen sind dieselben wie die aktuellen.</translation>
    </message>
    <message>
        <source>Keep the current settings (Esc)</source>
        <translation>Die aktuellen Einstellungen behalten (Esc)</translation>
    </message>
    <message>
        <source>Made with {0}.</source>
        <translation>Erstellt mit {0}.</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Jetzt</translation>
    </message>
    <message>
        <source>Now, full text</source>
        <translation>Jetzt, vollständiger Text</translation>
    </message>
    <message>
        <source>Prompt only</source>
        <translation>Nur Prompt</translation>
    </message>
    <message>
        <source>Reading metadata…</source>
        <translation>Metadaten werden gelesen…</translation>
    </message>
    <message>
        <source>Seed only</source>
        <translation>Nur Seed</translation>
    </message>
    <message>
        <source>Setting</source>
        <translation>Einstellung</translation>
    </message>
    <message>
        <source>The image cannot be shown: {0}</source>
        <translation>Das Bild kann nicht angezeigt werden: {0}</translation>
    </message>
    <message>
        <source>The metadata could not be read.</source>
        <translation>Die Metadaten konnten nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The model {0} is not installed.</source>
        <translation>Das Modell {0} ist nicht installiert.</translation>
    </message>
    <message>
        <source>The same settings give a different image with another model</source>
        <translation>Dieselben Einstellungen ergeben mit einem anderen Modell ein anderes Bild</translation>
    </message>
    <message>
        <source>Thumbnail</source>
        <translation>Vorschaubild</translation>
    </message>
    <message>
        <source>Use as init image</source>
        <translation>Als Ausgangsbild verwenden</translation>
    </message>
    <message>
        <source>Use the closest match instead: {0}</source>
        <translation>Stattdessen das ähnlichste verwenden: {0}</translation>
    </message>
    <message>
        <source>{0} × {1} pixels</source>
        <translation>{0} × {1} Pixel</translation>
    </message>
    <message>
        <source>{0}. It has no generation metadata.</source>
        <translation>{0}. Es hat keine Generierungs-Metadaten.</translation>
    </message>
</context>
<context>
    <name>DropHandler</name>
    <message numerus="yes">
        <source>%n more cannot be used.</source>
        <translation>
            <numerusform>%n weitere ist nicht verwendbar.</numerusform>
            <numerusform>%n weitere sind nicht verwendbar.</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing in it can be used. Drop or paste images, models, LoRAs, job files or folders.</source>
        <translation>Nichts davon ist verwendbar. Bilder, Modelle, LoRAs, Auftragsdateien oder Ordner ablegen oder einfügen.</translation>
    </message>
    <message>
        <source>That is a web address, not a file: dropping it downloads nothing. Save the file first, then drop it.</source>
        <translation>Das ist eine Webadresse, keine Datei: Ablegen lädt nichts herunter. Die Datei zuerst speichern und dann ablegen.</translation>
    </message>
    <message>
        <source>{0} files are too many at once: only the first {1} are used.</source>
        <translation>{0} Dateien sind zu viele auf einmal: Nur die ersten {1} werden verwendet.</translation>
    </message>
    <message>
        <source>{0}: {1}</source>
        <translation>{0}: {1}</translation>
    </message>
</context>
<context>
    <name>DroppedQuestions</name>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Add this LoRA to the current settings?</source>
        <translation>Diese LoRA zu den aktuellen Einstellungen hinzufügen?</translation>
    </message>
    <message>
        <source>Add this model folder?</source>
        <translation>Diesen Modellordner hinzufügen?</translation>
    </message>
    <message>
        <source>Add this model?</source>
        <translation>Dieses Modell hinzufügen?</translation>
    </message>
    <message>
        <source>Add to queue</source>
        <translation>In die Warteschlange</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Batch</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Create a batch from this folder with more than {images}?</source>
        <translation>Aus diesem Ordner einen Batch erstellen (mehr als {images})?</translation>
    </message>
    <message>
        <source>Create a batch from this folder with {images}?</source>
        <translation>Aus diesem Ordner einen Batch erstellen ({images})?</translation>
    </message>
    <message>
        <source>It stays where it is; nothing is copied.</source>
        <translation>Es bleibt, wo es ist; nichts wird kopiert.</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Open Batch page</source>
        <translation>Seite „Batch“ öffnen</translation>
    </message>
    <message>
        <source>Run image to image on {images} with the current settings?</source>
        <translation>Bild zu Bild mit den aktuellen Einstellungen ausführen ({images})?</translation>
    </message>
    <message>
        <source>The Batch page opens: check the preview there before you start. The originals are kept.</source>
        <translation>Die Seite „Batch“ öffnet sich: dort vor dem Start die Vorschau prüfen. Die Originale bleiben erhalten.</translation>
    </message>
    <message numerus="yes">
        <source>There are more images than that; only the first %n are used.</source>
        <translation>
            <numerusform>Es sind mehr Bilder; nur das erste wird verwendet.</numerusform>
            <numerusform>Es sind mehr Bilder; nur die ersten %n werden verwendet.</numerusform>
        </translation>
    </message>
    <message>
        <source>They are added as one job, in which each is used once as the init image. The originals are kept.</source>
        <translation>Sie kommen als ein Auftrag hinzu, in dem jedes einmal als Ausgangsbild dient. Die Originale bleiben erhalten.</translation>
    </message>
</context>
<context>
    <name>DryRunTable</name>
    <message>
        <source>Action</source>
        <translation>Aktion</translation>
    </message>
    <message>
        <source>Output file</source>
        <translation>Ausgabedatei</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
</context>
<context>
    <name>EngineNotice</name>
    <message>
        <source>Change nothing</source>
        <translation>Nichts ändern</translation>
    </message>
    <message>
        <source>Installation…</source>
        <translation>Installation…</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Nein</translation>
    </message>
    <message>
        <source>Open this window again with the new version</source>
        <translation>Dieses Fenster mit der neuen Version erneut öffnen</translation>
    </message>
    <message>
        <source>Restart</source>
        <translation>Neu starten</translation>
    </message>
    <message>
        <source>Show log</source>
        <translation>Protokoll anzeigen</translation>
    </message>
    <message>
        <source>Show the engine and its installation</source>
        <translation>Die Engine und ihre Installation zeigen</translation>
    </message>
    <message>
        <source>Show the engine&apos;s latest output (Ctrl+L)</source>
        <translation>Die letzten Ausgaben der Engine anzeigen (Strg+L)</translation>
    </message>
    <message>
        <source>Start now</source>
        <translation>Jetzt starten</translation>
    </message>
    <message>
        <source>The engine is taking a long time to start.</source>
        <translation>Die Engine braucht lange zum Starten.</translation>
    </message>
    <message>
        <source>The engine was not started.</source>
        <translation>Die Engine wurde nicht gestartet.</translation>
    </message>
    <message>
        <source>Try to start the engine again</source>
        <translation>Noch einmal versuchen, die Engine zu starten</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>Ja</translation>
    </message>
    <message>
        <source>You can change it back in the settings</source>
        <translation>Das lässt sich in den Einstellungen wieder ändern</translation>
    </message>
    <message>
        <source>Your jobs wait in the queue.</source>
        <translation>Die Aufträge warten in der Warteschlange.</translation>
    </message>
</context>
<context>
    <name>EnginePanel</name>
    <message>
        <source>Advised here: {build}. {why}</source>
        <translation>Hier empfohlen: {build}. {why}</translation>
    </message>
    <message>
        <source>Close this window and open it with the new version; jobs wait in the queue</source>
        <translation>Dieses Fenster schließen und mit der neuen Version öffnen; Aufträge warten in der Warteschlange</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Datenträger</translation>
    </message>
    <message>
        <source>Download and install it, then try it out</source>
        <translation>Laden, installieren und ausprobieren</translation>
    </message>
    <message>
        <source>Drivers, in the browser</source>
        <translation>Treiber, im Browser</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>Engine</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Folder of packages</source>
        <translation>Ordner mit Paketen</translation>
    </message>
    <message>
        <source>From a folder of packages…</source>
        <translation>Aus einem Ordner mit Paketen…</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>Installieren</translation>
    </message>
    <message>
        <source>Install without a network, from wheels that another computer has downloaded</source>
        <translation>Ohne Netz installieren, aus Wheels, die ein anderer Computer geladen hat</translation>
    </message>
    <message>
        <source>It goes on later from here, also after Mezzotint was closed</source>
        <translation>Es geht später von hier weiter, auch nachdem Mezzotint geschlossen war</translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>Erneut prüfen</translation>
    </message>
    <message>
        <source>Look at this machine again</source>
        <translation>Diesen Rechner erneut prüfen</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Wird geprüft…</translation>
    </message>
    <message>
        <source>NVIDIA driver</source>
        <translation>NVIDIA-Treiber</translation>
    </message>
    <message>
        <source>Open NVIDIA&apos;s page</source>
        <translation>Seite von NVIDIA öffnen</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Progress of the installation</source>
        <translation>Fortschritt der Installation</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Start now</source>
        <translation>Jetzt starten</translation>
    </message>
    <message>
        <source>The build of PyTorch that makes images on this machine</source>
        <translation>Die PyTorch-Variante, die auf diesem Rechner Bilder erzeugt</translation>
    </message>
    <message>
        <source>The installation is paused.</source>
        <translation>Die Installation ist angehalten.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Version {version} is installed and works.</source>
        <translation>Version {version} ist installiert und funktioniert.</translation>
    </message>
    <message>
        <source>What was downloaded is kept</source>
        <translation>Geladenes bleibt erhalten</translation>
    </message>
    <message>
        <source>Where the engine is kept, also on another drive; models stay where they are</source>
        <translation>Wo die Engine liegt, auch auf einem anderen Laufwerk; Modelle bleiben, wo sie sind</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>{build}: {needs}</source>
        <translation>{build}: {needs}</translation>
    </message>
    <message>
        <source>{bytes} are free</source>
        <translation>{bytes} sind frei</translation>
    </message>
    <message>
        <source>{free}: not enough. Choose a folder on another disk, or free some space.</source>
        <translation>{free}: zu wenig. Wählen Sie einen Ordner auf einem anderen Datenträger, oder schaffen Sie Platz.</translation>
    </message>
    <message>
        <source>{free}; downloaded so far: {amount}</source>
        <translation>{free}; bisher geladen: {amount}</translation>
    </message>
</context>
<context>
    <name>EngineSetup</name>
    <message>
        <source>A package could not be downloaded</source>
        <translation>Ein Paket konnte nicht heruntergeladen werden</translation>
    </message>
    <message>
        <source>A package is not what was released</source>
        <translation>Ein Paket ist nicht das, was veröffentlicht wurde</translation>
    </message>
    <message>
        <source>A proxy or virus scanner seems to come between: add its certificate to the system&apos;s, or take the packages from a folder.</source>
        <translation>Ein Proxy oder Virenscanner scheint dazwischenzustehen: Fügen Sie sein Zertifikat denen des Systems hinzu, oder nehmen Sie die Pakete aus einem Ordner.</translation>
    </message>
    <message>
        <source>AMD, ROCm</source>
        <translation>AMD, ROCm</translation>
    </message>
    <message>
        <source>Allow looking for updates first.</source>
        <translation>Erlauben Sie zuerst die Suche nach Updates.</translation>
    </message>
    <message>
        <source>Another installation is at work</source>
        <translation>Eine andere Installation läuft gerade</translation>
    </message>
    <message>
        <source>Apple&apos;s GPU is used through Metal.</source>
        <translation>Apples GPU wird über Metal genutzt.</translation>
    </message>
    <message>
        <source>Apple, Metal</source>
        <translation>Apple, Metal</translation>
    </message>
    <message>
        <source>CPU (works everywhere, slower)</source>
        <translation>CPU (läuft überall, langsamer)</translation>
    </message>
    <message>
        <source>Check the connection and try again: what was downloaded is kept. Or take the packages from a folder that another computer has filled.</source>
        <translation>Prüfen Sie die Verbindung und versuchen Sie es erneut: Geladenes bleibt erhalten. Oder nehmen Sie die Pakete aus einem Ordner, den ein anderer Computer gefüllt hat.</translation>
    </message>
    <message>
        <source>Choose a folder that has every package of this build.</source>
        <translation>Wählen Sie einen Ordner, der jedes Paket dieser Engine enthält.</translation>
    </message>
    <message>
        <source>Choose a folder with a shorter path above.</source>
        <translation>Wählen Sie oben einen Ordner mit kürzerem Pfad.</translation>
    </message>
    <message>
        <source>Choose another build above, or use the installer made for this system.</source>
        <translation>Wählen Sie oben eine andere Engine, oder nehmen Sie den Installer für dieses System.</translation>
    </message>
    <message>
        <source>Choose another folder above, which you may write to.</source>
        <translation>Wählen Sie oben einen anderen Ordner, in den Sie schreiben dürfen.</translation>
    </message>
    <message>
        <source>Comparing packages with their hashes: {amount}</source>
        <translation>Pakete werden mit ihren Prüfsummen verglichen: {amount}</translation>
    </message>
    <message>
        <source>Download Mezzotint&apos;s installer again and run it.</source>
        <translation>Laden Sie den Installer von Mezzotint erneut und starten Sie ihn.</translation>
    </message>
    <message>
        <source>Downloading: {amount}</source>
        <translation>Wird geladen: {amount}</translation>
    </message>
    <message>
        <source>Driver {driver} is older than 580, which the fastest build needs: install the newest one (on Linux that of your distribution), then look again. Until then, this works: {build}.</source>
        <translation>Treiber {driver} ist älter als 580, den die schnellste Variante braucht: Installieren Sie den neuesten (unter Linux den Ihrer Distribution), und sehen Sie dann erneut nach. Bis dahin geht: {build}.</translation>
    </message>
    <message>
        <source>Engine: {work}</source>
        <translation>Engine: {work}</translation>
    </message>
    <message>
        <source>Free some space, or choose a folder on another disk above.</source>
        <translation>Schaffen Sie Platz, oder wählen Sie oben einen Ordner auf einem anderen Datenträger.</translation>
    </message>
    <message>
        <source>Get newer versions from where this one came from.</source>
        <translation>Neuere Versionen gibt es dort, woher diese kam.</translation>
    </message>
    <message>
        <source>Installing beside the version in use</source>
        <translation>Wird neben der benutzten Version installiert</translation>
    </message>
    <message>
        <source>Intel Arc</source>
        <translation>Intel Arc</translation>
    </message>
    <message>
        <source>Looking for updates is off</source>
        <translation>Die Suche nach Aktualisierungen ist ausgeschaltet</translation>
    </message>
    <message>
        <source>NVIDIA, CUDA 12.6 (older cards and drivers)</source>
        <translation>NVIDIA, CUDA 12.6 (ältere Karten und Treiber)</translation>
    </message>
    <message>
        <source>NVIDIA, CUDA 13</source>
        <translation>NVIDIA, CUDA 13</translation>
    </message>
    <message>
        <source>No engine is installed yet, so no images can be made. The gallery, the models and the settings work.</source>
        <translation>Noch ist keine Engine installiert, daher können keine Bilder erzeugt werden. Galerie, Modelle und Einstellungen funktionieren.</translation>
    </message>
    <message>
        <source>No graphics card that can compute was found.</source>
        <translation>Es wurde keine Grafikkarte gefunden, die rechnen kann.</translation>
    </message>
    <message>
        <source>Preparing the download</source>
        <translation>Download wird vorbereitet</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Wird gestartet</translation>
    </message>
    <message>
        <source>Stay with this version.</source>
        <translation>Bleiben Sie bei dieser Version.</translation>
    </message>
    <message>
        <source>Switching to it</source>
        <translation>Wird umgeschaltet</translation>
    </message>
    <message>
        <source>The answer about updates is not understood</source>
        <translation>Die Antwort zu Aktualisierungen ist nicht verständlich</translation>
    </message>
    <message>
        <source>The certificate of the server is not trusted here</source>
        <translation>Dem Zertifikat des Servers wird hier nicht vertraut</translation>
    </message>
    <message>
        <source>The disk reports an error</source>
        <translation>Der Datenträger meldet einen Fehler</translation>
    </message>
    <message>
        <source>The engine could not be installed</source>
        <translation>Die Engine konnte nicht installiert werden</translation>
    </message>
    <message>
        <source>The file was not what was released, and was dropped. Try again.</source>
        <translation>Die Datei war nicht die veröffentlichte und wurde verworfen. Versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>The folder cannot be written to</source>
        <translation>In den Ordner kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>The folder lacks packages</source>
        <translation>In dem Ordner fehlen Pakete</translation>
    </message>
    <message>
        <source>The installation of the engine is paused.</source>
        <translation>Die Installation der Engine ist angehalten.</translation>
    </message>
    <message>
        <source>The installer brought version {version}.</source>
        <translation>Der Installer hat Version {version} mitgebracht.</translation>
    </message>
    <message>
        <source>The installer&apos;s program ended unexpectedly ({detail})</source>
        <translation>Das Programm des Installers endete unerwartet ({detail})</translation>
    </message>
    <message>
        <source>The new version does not work here, so nothing was switched</source>
        <translation>Die neue Version funktioniert hier nicht; es wurde nichts umgestellt</translation>
    </message>
    <message>
        <source>The path of the folder is too long for Windows</source>
        <translation>Der Pfad des Ordners ist für Windows zu lang</translation>
    </message>
    <message>
        <source>The server does not give a package out</source>
        <translation>Der Server gibt ein Paket nicht heraus</translation>
    </message>
    <message>
        <source>There is no earlier version</source>
        <translation>Es gibt keine frühere Version</translation>
    </message>
    <message>
        <source>There is not enough room on the disk</source>
        <translation>Auf dem Datenträger ist nicht genug Platz</translation>
    </message>
    <message>
        <source>This build has no packages for this system</source>
        <translation>Diese Variante hat keine Pakete für dieses System</translation>
    </message>
    <message>
        <source>This copy of Mezzotint names no address for updates</source>
        <translation>Diese Kopie von Mezzotint nennt keine Adresse für Aktualisierungen</translation>
    </message>
    <message>
        <source>This release has no build of this kind for this system: {build}.</source>
        <translation>Diese Version hat für dieses System keine Variante dieser Art: {build}.</translation>
    </message>
    <message>
        <source>This release has no such build</source>
        <translation>Diese Version hat keine solche Variante</translation>
    </message>
    <message>
        <source>Try again, or choose the CPU build above, which works everywhere.</source>
        <translation>Versuchen Sie es erneut, oder wählen Sie oben die Engine für die CPU, die überall läuft.</translation>
    </message>
    <message>
        <source>Try again: what was downloaded is kept.</source>
        <translation>Versuchen Sie es erneut: Geladenes bleibt erhalten.</translation>
    </message>
    <message>
        <source>Trying it: libraries, one image, the graphics card</source>
        <translation>Wird ausprobiert: Bibliotheken, ein Bild, die Grafikkarte</translation>
    </message>
    <message>
        <source>Version {version} has been released.</source>
        <translation>Version {version} ist erschienen.</translation>
    </message>
    <message>
        <source>Version {version} is installed and works.</source>
        <translation>Version {version} ist installiert und funktioniert.</translation>
    </message>
    <message>
        <source>Wait until the other installation has ended, then try again.</source>
        <translation>Warten Sie, bis die andere Installation beendet ist, und versuchen Sie es dann erneut.</translation>
    </message>
    <message>
        <source>What the installer brought is damaged</source>
        <translation>Was das Installationsprogramm mitgebracht hat, ist beschädigt</translation>
    </message>
    <message>
        <source>compute capability {number}</source>
        <translation>Compute Capability {number}</translation>
    </message>
    <message>
        <source>none that can compute was found</source>
        <translation>keine gefunden, die rechnen kann</translation>
    </message>
    <message>
        <source>{card} (compute capability {capability}) is older than CUDA 13.</source>
        <translation>{card} (Compute Capability {capability}) ist älter als CUDA 13.</translation>
    </message>
    <message>
        <source>{card} ({target}) is not among the cards that PyTorch&apos;s ROCm supports.</source>
        <translation>{card} ({target}) gehört nicht zu den Karten, die PyTorchs ROCm unterstützt.</translation>
    </message>
    <message>
        <source>{card} ({target}) is supported by ROCm.</source>
        <translation>{card} ({target}) wird von ROCm unterstützt.</translation>
    </message>
    <message>
        <source>{card} has no NVIDIA driver that can compute.</source>
        <translation>{card} hat keinen NVIDIA-Treiber, mit dem gerechnet werden kann.</translation>
    </message>
    <message>
        <source>{card} has no NVIDIA driver that can compute: install the newest one (on Linux that of your distribution), then look again.</source>
        <translation>{card} hat keinen NVIDIA-Treiber, mit dem gerechnet werden kann: Installieren Sie den neuesten (unter Linux den Ihrer Distribution), und sehen Sie dann erneut nach.</translation>
    </message>
    <message>
        <source>{card} is one of Intel&apos;s Arc cards.</source>
        <translation>{card} ist eine von Intels Arc-Karten.</translation>
    </message>
    <message>
        <source>{card} with driver {driver}.</source>
        <translation>{card} mit Treiber {driver}.</translation>
    </message>
    <message>
        <source>{card}: PyTorch has builds for AMD&apos;s cards on Linux only.</source>
        <translation>{card}: PyTorch gibt es für AMDs Karten nur unter Linux.</translation>
    </message>
    <message>
        <source>{card}: driver {driver} is older than 580.</source>
        <translation>{card}: Treiber {driver} ist älter als 580.</translation>
    </message>
    <message>
        <source>{card}: the kernel&apos;s compute driver (amdgpu, /dev/kfd) is not loaded.</source>
        <translation>{card}: Der Rechentreiber des Kernels (amdgpu, /dev/kfd) ist nicht geladen.</translation>
    </message>
    <message>
        <source>{download} to download, {disk} on disk</source>
        <translation>{download} zu laden, {disk} auf dem Datenträger</translation>
    </message>
</context>
<context>
    <name>EngineState</name>
    <message>
        <source>Analyzing new model</source>
        <translation>Neues Modell wird analysiert</translation>
    </message>
    <message>
        <source>Engine failed to start</source>
        <translation>Engine konnte nicht starten</translation>
    </message>
    <message>
        <source>Engine ready</source>
        <translation>Engine bereit</translation>
    </message>
    <message>
        <source>Engine restarting</source>
        <translation>Engine startet neu</translation>
    </message>
    <message>
        <source>Engine starting</source>
        <translation>Engine startet</translation>
    </message>
    <message>
        <source>Engine stopped</source>
        <translation>Engine gestoppt</translation>
    </message>
    <message>
        <source>Generating</source>
        <translation>Generiert</translation>
    </message>
    <message>
        <source>Loading {model}: {amount}</source>
        <translation>Lädt {model}: {amount}</translation>
    </message>
    <message>
        <source>The engine crashed twice while generating. Use PyTorch attention from now on? It is slower.</source>
        <translation>Die Engine ist beim Generieren zweimal abgestürzt. Ab jetzt die Attention von PyTorch verwenden? Sie ist langsamer.</translation>
    </message>
    <message>
        <source>The engine crashed twice while generating. Use the CPU from now on? It is much slower.</source>
        <translation>Die Engine ist beim Generieren zweimal abgestürzt. Ab jetzt die CPU verwenden? Sie ist viel langsamer.</translation>
    </message>
    <message>
        <source>{text} on {device}</source>
        <translation>{text} auf {device}</translation>
    </message>
    <message>
        <source>{text}, {left}</source>
        <translation>{text}, {left}</translation>
    </message>
</context>
<context>
    <name>EngineVersions</name>
    <message>
        <source>Ask whether there is a newer version</source>
        <translation>Fragen, ob es eine neuere Version gibt</translation>
    </message>
    <message>
        <source>Asks only the release index, and sends nothing about you or your images</source>
        <translation>Fragt nur das Verzeichnis der Versionen und sendet nichts über Sie oder Ihre Bilder</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>Vorher</translation>
    </message>
    <message>
        <source>Build the version in use again, from files compared with their hashes</source>
        <translation>Die benutzte Version neu bauen, aus Dateien, deren Prüfsummen verglichen werden</translation>
    </message>
    <message>
        <source>Check now</source>
        <translation>Jetzt suchen</translation>
    </message>
    <message>
        <source>Download: {bytes}</source>
        <translation>Download: {bytes}</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>In Benutzung</translation>
    </message>
    <message>
        <source>Look for updates when Mezzotint starts</source>
        <translation>Beim Start von Mezzotint nach Updates suchen</translation>
    </message>
    <message>
        <source>Repair</source>
        <translation>Reparieren</translation>
    </message>
    <message>
        <source>Switch to the version before</source>
        <translation>Zur vorherigen Version wechseln</translation>
    </message>
    <message>
        <source>The present version is kept</source>
        <translation>Die jetzige Version bleibt erhalten</translation>
    </message>
    <message>
        <source>This is the newest version.</source>
        <translation>Dies ist die neueste Version.</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>Aktualisieren</translation>
    </message>
    <message>
        <source>no engine</source>
        <translation>keine Engine</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keiner</translation>
    </message>
</context>
<context>
    <name>EpochCard</name>
    <message>
        <source>Add this LoRA to the Create page</source>
        <translation>Diese LoRA auf der Seite „Erstellen“ hinzufügen</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Use: {epoch}</source>
        <translation>Verwenden: {epoch}</translation>
    </message>
    <message>
        <source>lowest validation loss</source>
        <translation>kleinster Validierungsverlust</translation>
    </message>
</context>
<context>
    <name>Epochs</name>
    <message>
        <source>As paused, step {step}</source>
        <translation>Stand der Pause, Schritt {step}</translation>
    </message>
    <message>
        <source>Before training</source>
        <translation>Vor dem Training</translation>
    </message>
</context>
<context>
    <name>Errors</name>
    <message>
        <source>A file or folder could not be accessed.</source>
        <translation>Auf eine Datei oder einen Ordner konnte nicht zugegriffen werden.</translation>
    </message>
    <message>
        <source>A setting is invalid.</source>
        <translation>Eine Einstellung ist ungültig.</translation>
    </message>
    <message>
        <source>Accept the terms on its page, create an access token there, and enter it in the dialog.</source>
        <translation>Die Bedingungen auf seiner Seite annehmen, dort ein Zugriffstoken erstellen und im Dialog eingeben.</translation>
    </message>
    <message>
        <source>Another program is running this batch.</source>
        <translation>Ein anderes Programm führt diesen Batch aus.</translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <translation>Abgebrochen.</translation>
    </message>
    <message>
        <source>Change it and try again.</source>
        <translation>Ändern und erneut versuchen.</translation>
    </message>
    <message>
        <source>Choose a smaller size, stronger quantization or the lowest memory setting, or close other programs and try again.</source>
        <translation>Eine kleinere Größe, stärkere Quantisierung oder die Speichereinstellung „Minimal“ wählen oder andere Programme schließen und erneut versuchen.</translation>
    </message>
    <message>
        <source>Choose another device in the settings.</source>
        <translation>In den Einstellungen ein anderes Gerät wählen.</translation>
    </message>
    <message>
        <source>Choose another image.</source>
        <translation>Ein anderes Bild wählen.</translation>
    </message>
    <message>
        <source>Choose another model on the Models page, or add the folder that contains it.</source>
        <translation>Auf der Seite „Modelle“ ein anderes Modell wählen oder den Ordner hinzufügen, in dem es liegt.</translation>
    </message>
    <message>
        <source>Free some space or choose another folder in the settings, then resume.</source>
        <translation>Platz schaffen oder in den Einstellungen einen anderen Ordner wählen, dann fortsetzen.</translation>
    </message>
    <message>
        <source>Internal error in Mezzotint.</source>
        <translation>Interner Fehler in Mezzotint.</translation>
    </message>
    <message>
        <source>It is retried automatically. If this happens again, update the driver or use another device.</source>
        <translation>Es wird automatisch erneut versucht. Falls es wieder vorkommt, den Treiber aktualisieren oder ein anderes Gerät verwenden.</translation>
    </message>
    <message>
        <source>It restarts automatically, and the interrupted task is retried once.</source>
        <translation>Sie startet automatisch neu, und die unterbrochene Aufgabe wird einmal wiederholt.</translation>
    </message>
    <message>
        <source>No engine is installed.</source>
        <translation>Es ist keine Engine installiert.</translation>
    </message>
    <message>
        <source>Not enough memory.</source>
        <translation>Zu wenig Speicher.</translation>
    </message>
    <message>
        <source>Please report it; the log has the details.</source>
        <translation>Bitte melden; das Protokoll enthält die Details.</translation>
    </message>
    <message>
        <source>Press Restart in the notice above the page; the log says why it stopped.</source>
        <translation>Im Hinweis über der Seite auf „Neu starten“ klicken; im Protokoll steht, warum sie gestoppt ist.</translation>
    </message>
    <message>
        <source>The disk is full.</source>
        <translation>Der Datenträger ist voll.</translation>
    </message>
    <message>
        <source>The download failed.</source>
        <translation>Der Download ist fehlgeschlagen.</translation>
    </message>
    <message>
        <source>The engine is busy.</source>
        <translation>Die Engine ist beschäftigt.</translation>
    </message>
    <message>
        <source>The engine is not running.</source>
        <translation>Die Engine läuft nicht.</translation>
    </message>
    <message>
        <source>The engine stopped before it had finished.</source>
        <translation>Die Engine ist gestoppt, bevor sie fertig war.</translation>
    </message>
    <message>
        <source>The graphics driver failed.</source>
        <translation>Der Grafiktreiber ist ausgefallen.</translation>
    </message>
    <message>
        <source>The image cannot be read.</source>
        <translation>Das Bild kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The images or captions have changed since this run began.</source>
        <translation>Die Bilder oder Beschreibungen haben sich seit Beginn dieses Laufs geändert.</translation>
    </message>
    <message>
        <source>The log says why. Resume the training.</source>
        <translation>Das Protokoll sagt, warum. Setzen Sie das Training fort.</translation>
    </message>
    <message>
        <source>The model cannot be used.</source>
        <translation>Das Modell ist nicht verwendbar.</translation>
    </message>
    <message>
        <source>The model was not found.</source>
        <translation>Das Modell wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>The operation failed.</source>
        <translation>Der Vorgang ist fehlgeschlagen.</translation>
    </message>
    <message>
        <source>The selected device cannot be used.</source>
        <translation>Das gewählte Gerät ist nicht verwendbar.</translation>
    </message>
    <message>
        <source>The window and the engine exchanged an invalid message.</source>
        <translation>Fenster und Engine haben eine ungültige Nachricht ausgetauscht.</translation>
    </message>
    <message>
        <source>This model is gated: its terms must be accepted first.</source>
        <translation>Dieses Modell ist zugangsbeschränkt: Zuerst müssen seine Bedingungen angenommen werden.</translation>
    </message>
    <message>
        <source>Training has lost one of its processes.</source>
        <translation>Das Training hat einen seiner Prozesse verloren.</translation>
    </message>
    <message>
        <source>Try again. If this happens again, reinstall Mezzotint.</source>
        <translation>Erneut versuchen. Falls es wieder vorkommt, Mezzotint neu installieren.</translation>
    </message>
    <message>
        <source>Try again: what is already downloaded is kept, and the download resumes from there.</source>
        <translation>Erneut versuchen: Was schon heruntergeladen ist, bleibt erhalten, und der Download geht dort weiter.</translation>
    </message>
    <message>
        <source>Try again; the log may have details.</source>
        <translation>Erneut versuchen; das Protokoll enthält vielleicht Details.</translation>
    </message>
    <message>
        <source>Undo the changes, or resume with the images as they are now.</source>
        <translation>Die Änderungen rückgängig machen oder mit den jetzigen Bildern fortsetzen.</translation>
    </message>
    <message>
        <source>Verify its files on the Models page, or download it again.</source>
        <translation>Seine Dateien auf der Seite „Modelle“ prüfen oder es erneut herunterladen.</translation>
    </message>
    <message>
        <source>Wait until it has finished, or stop it there.</source>
        <translation>Warten, bis er fertig ist, oder ihn dort stoppen.</translation>
    </message>
    <message>
        <source>Wait until it has finished.</source>
        <translation>Warten, bis sie fertig ist.</translation>
    </message>
</context>
<context>
    <name>Faster</name>
    <message>
        <source>8-bit text encoders</source>
        <translation>Textencoder in 8 Bit</translation>
    </message>
    <message>
        <source>Deep shrink: composed at half the size</source>
        <translation>Deep Shrink: in halber Größe komponiert</translation>
    </message>
    <message>
        <source>Fewer tokens in attention</source>
        <translation>Weniger Token in der Attention</translation>
    </message>
    <message>
        <source>Images differ by {loss} %, as measured on the bundled models.</source>
        <translation>Bilder weichen um {loss} % ab, gemessen an den mitgelieferten Modellen.</translation>
    </message>
    <message>
        <source>Images differ.</source>
        <translation>Bilder weichen ab.</translation>
    </message>
    <message>
        <source>Images look different.</source>
        <translation>Bilder sehen anders aus.</translation>
    </message>
    <message>
        <source>Less of the image is made at its full size.</source>
        <translation>Weniger am Bild entsteht in voller Größe.</translation>
    </message>
    <message>
        <source>Prompts are understood slightly differently.</source>
        <translation>Prompts werden etwas anders verstanden.</translation>
    </message>
    <message>
        <source>Set: {advice}. The same button undoes it.</source>
        <translation>Eingestellt: {advice}. Derselbe Knopf macht es rückgängig.</translation>
    </message>
    <message>
        <source>Step cache</source>
        <translation>Schritt-Cache</translation>
    </message>
    <message>
        <source>how much depends on the image</source>
        <translation>wie viel, hängt vom Bild ab</translation>
    </message>
    <message>
        <source>{bits}-bit weights</source>
        <translation>{bits}-Bit-Gewichte</translation>
    </message>
    <message>
        <source>{model}, in {steps} steps</source>
        <translation>{model}, in {steps} Schritten</translation>
    </message>
    <message>
        <source>{now} instead of {before}</source>
        <translation>{now} statt {before}</translation>
    </message>
    <message>
        <source>{width}×{height}, then a second pass at {scale}×</source>
        <translation>{width}×{height}, dann ein zweiter Durchgang mit {scale}×</translation>
    </message>
</context>
<context>
    <name>FasterButton</name>
    <message>
        <source>Make it faster</source>
        <translation>Schneller machen</translation>
    </message>
    <message>
        <source>Make it faster: what would save time, and what it costs</source>
        <translation>Schneller machen: was Zeit spart, und was es kostet</translation>
    </message>
    <message>
        <source>Undo the last one</source>
        <translation>Letzte Maßnahme rückgängig machen</translation>
    </message>
</context>
<context>
    <name>Field</name>
    <message>
        <source>model default</source>
        <translation>Modellstandard</translation>
    </message>
    <message>
        <source>{name}: reset to model default</source>
        <translation>{name}: auf Modellstandard zurücksetzen</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>A model folder, or a ComfyUI or A1111 installation; nothing is copied</source>
        <translation>Ein Modellordner oder eine ComfyUI- oder A1111-Installation; nichts wird kopiert</translation>
    </message>
    <message>
        <source>Add my models…</source>
        <translation>Meine Modelle hinzufügen…</translation>
    </message>
    <message>
        <source>Describe the image; the small bundled model knows simple scenes</source>
        <translation>Das Bild beschreiben; das kleine mitgelieferte Modell kennt einfache Szenen</translation>
    </message>
    <message>
        <source>Download a model…</source>
        <translation>Modell herunterladen…</translation>
    </message>
    <message>
        <source>From a list, or from Hugging Face</source>
        <translation>Aus einer Liste oder von Hugging Face</translation>
    </message>
    <message>
        <source>Generate my first image</source>
        <translation>Mein erstes Bild generieren</translation>
    </message>
    <message>
        <source>Images from text, generated on your own computer</source>
        <translation>Bilder aus Text, auf dem eigenen Rechner generiert</translation>
    </message>
    <message>
        <source>No account, no cloud: everything stays on this machine. Start with a sentence.</source>
        <translation>Kein Konto, keine Cloud: Alles bleibt auf diesem Rechner. Mit einem Satz anfangen.</translation>
    </message>
    <message>
        <source>Opens the Create page</source>
        <translation>Öffnet die Seite „Erstellen“</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>Überspringen</translation>
    </message>
    <message>
        <source>The bundled model is small and generates simple landscapes. For anything else, use one of your own models, or download one.</source>
        <translation>Das mitgelieferte Modell ist klein und generiert einfache Landschaften. Für alles andere ein eigenes Modell verwenden oder eines herunterladen.</translation>
    </message>
    <message>
        <source>Uses the small bundled model</source>
        <translation>Verwendet das kleine mitgelieferte Modell</translation>
    </message>
    <message>
        <source>What computes the images is installed once, for your graphics card. Everything else works meanwhile.</source>
        <translation>Was die Bilder berechnet, wird einmal für Ihre Grafikkarte installiert. Alles andere funktioniert schon.</translation>
    </message>
    <message>
        <source>a red house by the sea at dusk</source>
        <translation>a red house by the sea at dusk</translation>
    </message>
</context>
<context>
    <name>FullDiskRedirect</name>
    <message>
        <source>Waiting images will be saved to {folder}. Press Resume to continue.</source>
        <translation>Wartende Bilder werden in {folder} gespeichert. Zum Weitermachen auf „Fortsetzen“ klicken.</translation>
    </message>
</context>
<context>
    <name>GalleryActions</name>
    <message>
        <source>Command copied</source>
        <translation>Befehl kopiert</translation>
    </message>
    <message>
        <source>Command copied. Settings without a command-line option were left out: {0}</source>
        <translation>Befehl kopiert. Einstellungen ohne Kommandozeilenoption wurden ausgelassen: {0}</translation>
    </message>
    <message>
        <source>Image copied</source>
        <translation>Bild kopiert</translation>
    </message>
    <message>
        <source>Moved to trash: {0}</source>
        <translation>In den Papierkorb verschoben: {0}</translation>
    </message>
    <message>
        <source>Prompt copied</source>
        <translation>Prompt kopiert</translation>
    </message>
    <message>
        <source>Restored from trash: {0}</source>
        <translation>Aus dem Papierkorb wiederhergestellt: {0}</translation>
    </message>
    <message>
        <source>Settings copied</source>
        <translation>Einstellungen kopiert</translation>
    </message>
    <message>
        <source>This image has no generation metadata</source>
        <translation>Dieses Bild hat keine Generierungs-Metadaten</translation>
    </message>
    <message>
        <source>the system gave no reason</source>
        <translation>das System nannte keinen Grund</translation>
    </message>
    <message>
        <source>{path} could not be moved to the trash: {why}</source>
        <translation>{path} konnte nicht in den Papierkorb verschoben werden: {why}</translation>
    </message>
    <message>
        <source>{path} could not be restored from the trash: {why}</source>
        <translation>{path} ließ sich nicht aus dem Papierkorb wiederherstellen: {why}</translation>
    </message>
</context>
<context>
    <name>GalleryBar</name>
    <message numerus="yes">
        <source>%n or more stars</source>
        <translation>
            <numerusform>mindestens %n Stern</numerusform>
            <numerusform>mindestens %n Sterne</numerusform>
        </translation>
    </message>
    <message>
        <source>5 stars</source>
        <translation>5 Sterne</translation>
    </message>
    <message>
        <source>All models</source>
        <translation>Alle Modelle</translation>
    </message>
    <message>
        <source>Any rating</source>
        <translation>Jede Bewertung</translation>
    </message>
    <message>
        <source>Best rated first</source>
        <translation>Beste zuerst</translation>
    </message>
    <message>
        <source>Boards</source>
        <translation>Boards</translation>
    </message>
    <message>
        <source>Clear search</source>
        <translation>Suche leeren</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Details</translation>
    </message>
    <message>
        <source>Find images whose prompt, model or file name contains all of these words; also tag:sea, board:&quot;My trip&quot;, model:xl, stars:3, and -tag:sea for those without (Ctrl+F)</source>
        <translation>Bilder finden, deren Prompt, Modell oder Dateiname all diese Wörter enthält; auch tag:meer, board:&quot;Meine Reise&quot;, model:xl, stars:3, und -tag:meer für die ohne (Strg+F)</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Most similar first</source>
        <translation>Ähnlichste zuerst</translation>
    </message>
    <message>
        <source>Newest first</source>
        <translation>Neueste zuerst</translation>
    </message>
    <message>
        <source>Oldest first</source>
        <translation>Älteste zuerst</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search prompts</source>
        <translation>Prompts durchsuchen</translation>
    </message>
    <message>
        <source>Show boards (Ctrl+B)</source>
        <translation>Boards anzeigen (Strg+B)</translation>
    </message>
    <message>
        <source>Show image details (Ctrl+I)</source>
        <translation>Bilddetails anzeigen (Strg+I)</translation>
    </message>
    <message>
        <source>Show only images of this model</source>
        <translation>Nur Bilder dieses Modells anzeigen</translation>
    </message>
    <message>
        <source>Show only images with at least this many stars</source>
        <translation>Nur Bilder mit mindestens so vielen Sternen anzeigen</translation>
    </message>
    <message>
        <source>Sort order</source>
        <translation>Sortierung</translation>
    </message>
    <message>
        <source>Sort order of the images</source>
        <translation>Sortierung der Bilder</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>Sterne</translation>
    </message>
    <message>
        <source>Thumbnail size</source>
        <translation>Größe der Vorschaubilder</translation>
    </message>
    <message>
        <source>Thumbnail size (Ctrl+Plus, Ctrl+Minus)</source>
        <translation>Größe der Vorschaubilder (Strg+Plus, Strg+Minus)</translation>
    </message>
    <message>
        <source>Unknown model</source>
        <translation>Unbekanntes Modell</translation>
    </message>
</context>
<context>
    <name>GalleryModel</name>
    <message>
        <source>Loading</source>
        <translation>Lädt</translation>
    </message>
    <message>
        <source>No prompt</source>
        <translation>Kein Prompt</translation>
    </message>
    <message numerus="yes">
        <source>Stars: %n</source>
        <translation>
            <numerusform>Sterne: %n</numerusform>
            <numerusform>Sterne: %n</numerusform>
        </translation>
    </message>
    <message>
        <source>The rating was not saved: {0}</source>
        <translation>Die Bewertung wurde nicht gespeichert: {0}</translation>
    </message>
</context>
<context>
    <name>GalleryPage</name>
    <message>
        <source>Clear search and filters</source>
        <translation>Suche und Filter zurücksetzen</translation>
    </message>
    <message>
        <source>Create images</source>
        <translation>Bilder erstellen</translation>
    </message>
    <message>
        <source>Do not ask again</source>
        <translation>Nicht mehr fragen</translation>
    </message>
    <message>
        <source>Drop images on it, or press B in the gallery.</source>
        <translation>Bilder darauf ablegen oder in der Galerie B drücken.</translation>
    </message>
    <message>
        <source>Every image you generate is saved in your image folder, and can be found here by its prompt.</source>
        <translation>Jedes generierte Bild wird im Bilderordner gespeichert und ist hier über seinen Prompt zu finden.</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>In den Papierkorb</translation>
    </message>
    <message>
        <source>Move {0} to the trash? Files can be restored from there.</source>
        <translation>{0} in den Papierkorb verschieben? Von dort lassen sich Dateien wiederherstellen.</translation>
    </message>
    <message>
        <source>No matching images</source>
        <translation>Keine passenden Bilder</translation>
    </message>
    <message>
        <source>Nothing on this board</source>
        <translation>Nichts auf diesem Board</translation>
    </message>
    <message>
        <source>Open the Create page (Ctrl+1)</source>
        <translation>Seite „Erstellen“ öffnen (Strg+1)</translation>
    </message>
    <message>
        <source>Show all images</source>
        <translation>Alle Bilder anzeigen</translation>
    </message>
    <message>
        <source>Try other search words, fewer stars or another model.</source>
        <translation>Andere Suchwörter, weniger Sterne oder ein anderes Modell probieren.</translation>
    </message>
    <message>
        <source>Your images appear here</source>
        <translation>Hier erscheinen die Bilder</translation>
    </message>
</context>
<context>
    <name>GallerySidePanel</name>
    <message>
        <source>Boards</source>
        <translation>Boards</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativ-Prompt</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Tags</translation>
    </message>
</context>
<context>
    <name>GallerySimilarity</name>
    <message>
        <source>Looking at images: {0} of {1}</source>
        <translation>Bilder werden betrachtet: {0} von {1}</translation>
    </message>
</context>
<context>
    <name>GalleryStatus</name>
    <message>
        <source>Reading images: {0} of {1}</source>
        <translation>Bilder werden gelesen: {0} von {1}</translation>
    </message>
    <message>
        <source>Scan progress</source>
        <translation>Fortschritt des Einlesens</translation>
    </message>
    <message>
        <source>Scanning for images</source>
        <translation>Suche nach Bildern</translation>
    </message>
    <message>
        <source>Stop scanning</source>
        <translation>Suche stoppen</translation>
    </message>
    <message>
        <source>Stop scanning for images; images found so far are kept</source>
        <translation>Die Suche nach Bildern stoppen; bisher gefundene Bilder bleiben erhalten</translation>
    </message>
    <message>
        <source>{images}, {count} selected</source>
        <translation>{images}, {count} ausgewählt</translation>
    </message>
</context>
<context>
    <name>GalleryTrash</name>
    <message numerus="yes">
        <source>%n more could not be moved</source>
        <translation>
            <numerusform>%n weiteres ließ sich nicht verschieben</numerusform>
            <numerusform>%n weitere ließen sich nicht verschieben</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more could not be restored</source>
        <translation>
            <numerusform>%n weiteres ließ sich nicht wiederherstellen</numerusform>
            <numerusform>%n weitere ließen sich nicht wiederherstellen</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GalleryUpscaling</name>
    <message>
        <source>Removing the background</source>
        <translation>Hintergrund wird entfernt</translation>
    </message>
    <message>
        <source>Upscaling</source>
        <translation>Wird hochskaliert</translation>
    </message>
    <message>
        <source>{0} %</source>
        <translation>{0} %</translation>
    </message>
    <message>
        <source>{0} waiting</source>
        <translation>{0} in der Warteschlange</translation>
    </message>
</context>
<context>
    <name>GenerateBar</name>
    <message>
        <source>Cancel what is being generated</source>
        <translation>Abbrechen, was gerade generiert wird</translation>
    </message>
    <message>
        <source>Generate</source>
        <translation>Generieren</translation>
    </message>
    <message>
        <source>Generate into the frame (Ctrl+Enter); mask layers limit what changes</source>
        <translation>In den Rahmen generieren (Strg+Eingabe); Maskenebenen begrenzen, was sich ändert</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Number of candidates</source>
        <translation>Anzahl der Vorschläge</translation>
    </message>
</context>
<context>
    <name>GeneratePanel</name>
    <message>
        <source>Area</source>
        <translation>Bereich</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Choose a ControlNet</source>
        <translation>ControlNet wählen</translation>
    </message>
    <message>
        <source>Context around the mask</source>
        <translation>Umgebung der Maske</translation>
    </message>
    <message>
        <source>Control layer</source>
        <translation>Kontrollebene</translation>
    </message>
    <message>
        <source>Denoising strength</source>
        <translation>Denoising-Stärke</translation>
    </message>
    <message>
        <source>Feather</source>
        <translation>Weiche Kante</translation>
    </message>
    <message>
        <source>Fill</source>
        <translation>Füllung</translation>
    </message>
    <message>
        <source>Generate into the frame</source>
        <translation>In den Rahmen generieren</translation>
    </message>
    <message>
        <source>How much changes; automatic: all where something is filled in, otherwise 60 %</source>
        <translation>Wie viel sich ändert; automatisch: alles, wo etwas ergänzt wird, sonst 60 %</translation>
    </message>
    <message>
        <source>Inpaint area</source>
        <translation>Inpainting-Bereich</translation>
    </message>
    <message>
        <source>Noise</source>
        <translation>Rauschen</translation>
    </message>
    <message>
        <source>Only masked</source>
        <translation>Nur maskiert</translation>
    </message>
    <message>
        <source>Only masked: the surroundings of the mask are generated at the size on Create, then pasted back</source>
        <translation>Nur maskiert: Die Umgebung der Maske wird in der Größe unter „Erstellen“ generiert und wieder eingefügt</translation>
    </message>
    <message>
        <source>Original</source>
        <translation>Original</translation>
    </message>
    <message>
        <source>Padding</source>
        <translation>Rand</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>Stärke</translation>
    </message>
    <message>
        <source>Surrounding colours, blurred</source>
        <translation>Umgebende Farben, verwischt</translation>
    </message>
    <message>
        <source>What the frame is to show (shared with Create)</source>
        <translation>Was der Rahmen zeigen soll (gemeinsam mit „Erstellen“)</translation>
    </message>
    <message>
        <source>What the masked or empty part starts from</source>
        <translation>Womit der maskierte oder leere Teil beginnt</translation>
    </message>
    <message>
        <source>Whole frame</source>
        <translation>Ganzer Rahmen</translation>
    </message>
    <message>
        <source>Width of the soft edge inside the mask</source>
        <translation>Breite der weichen Kante innerhalb der Maske</translation>
    </message>
</context>
<context>
    <name>GetModel</name>
    <message>
        <source>Enter a model, such as owner/name, or a link that begins with https://</source>
        <translation>Ein Modell eingeben, z. B. owner/name, oder einen Link, der mit https:// beginnt</translation>
    </message>
</context>
<context>
    <name>GetModelDialog</name>
    <message>
        <source>
and {n} more</source>
        <translation>
und {n} weitere</translation>
    </message>
    <message>
        <source>A Hugging Face access token; used for this download and not stored</source>
        <translation>Ein Zugriffstoken von Hugging Face; nur für diesen Download verwendet und nicht gespeichert</translation>
    </message>
    <message>
        <source>About this model</source>
        <translation>Über dieses Modell</translation>
    </message>
    <message>
        <source>Access</source>
        <translation>Zugriff</translation>
    </message>
    <message>
        <source>Access token</source>
        <translation>Zugriffstoken</translation>
    </message>
    <message>
        <source>An id such as stabilityai/sdxl-turbo, or a link to a .safetensors file</source>
        <translation>Eine Kennung wie stabilityai/sdxl-turbo oder ein Link zu einer .safetensors-Datei</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Wird geprüft…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close without downloading</source>
        <translation>Schließen, ohne herunterzuladen</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>Beschreibung</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Download a model</source>
        <translation>Modell herunterladen</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source>Downloads in the background; you can stop it at any time</source>
        <translation>Lädt im Hintergrund herunter; kann jederzeit gestoppt werden</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>Familie</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Free disk space</source>
        <translation>Freier Speicherplatz</translation>
    </message>
    <message>
        <source>Gated: accept the licence on Hugging Face, then enter a token here.</source>
        <translation>Zugangsbeschränkt: die Lizenz bei Hugging Face annehmen, dann hier ein Token eingeben.</translation>
    </message>
    <message>
        <source>Hugging Face model or link</source>
        <translation>Hugging-Face-Modell oder Link</translation>
    </message>
    <message>
        <source>Installed as</source>
        <translation>Installiert als</translation>
    </message>
    <message>
        <source>Its own licence</source>
        <translation>Eigene Lizenz</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>Repository</translation>
    </message>
    <message>
        <source>Shows size and licence; downloads nothing yet</source>
        <translation>Zeigt Größe und Lizenz; lädt noch nichts herunter</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>only for gated models</source>
        <translation>nur für zugangsbeschränkte Modelle</translation>
    </message>
    <message>
        <source>owner/name, or https://…</source>
        <translation>owner/name oder https://…</translation>
    </message>
    <message>
        <source>{all}, {left} left to download</source>
        <translation>{all}, davon noch {left} herunterzuladen</translation>
    </message>
    <message>
        <source>{size}, of which a part is needed</source>
        <translation>{size}, wovon ein Teil benötigt wird</translation>
    </message>
    <message>
        <source>“Check” shows size and licence; only “Download” downloads.</source>
        <translation>„Prüfen“ zeigt Größe und Lizenz; erst „Herunterladen“ lädt herunter.</translation>
    </message>
</context>
<context>
    <name>GpuTurn</name>
    <message>
        <source>Starting…</source>
        <translation>Startet…</translation>
    </message>
    <message>
        <source>Waiting for the engine to start.</source>
        <translation>Wartet auf den Start der Engine.</translation>
    </message>
    <message>
        <source>Waiting for the queue to finish. Pause the queue to start now.</source>
        <translation>Wartet, bis die Warteschlange fertig ist. Um sofort zu starten, die Warteschlange pausieren.</translation>
    </message>
    <message>
        <source>Waiting: {who} is using the device.</source>
        <translation>Warten: {who} benutzt gerade das Gerät.</translation>
    </message>
</context>
<context>
    <name>Grid</name>
    <message>
        <source>LoRA</source>
        <translation>LoRA</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>Stärke</translation>
    </message>
</context>
<context>
    <name>GridDialog</name>
    <message>
        <source>An image for each combination of values, and all of them labelled in one image. The other settings are those of the Create page; without a seed among the values, all have the same.</source>
        <translation>Ein Bild für jede Kombination der Werte, und alle beschriftet in einem Bild. Die übrigen Einstellungen sind die der Seite „Erstellen“; wenn kein Seed unter den Werten ist, haben alle denselben.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close without generating</source>
        <translation>Schließen, ohne zu generieren</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>Spalten</translation>
    </message>
    <message>
        <source>Generate grid</source>
        <translation>Raster generieren</translation>
    </message>
    <message>
        <source>Grid</source>
        <translation>Raster</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>Starts as a batch; the Batch page shows how far it is</source>
        <translation>Startet als Batch; die Seite „Batch“ zeigt den Fortschritt</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>Tabellen</translation>
    </message>
    <message>
        <source>The setting that varies</source>
        <translation>Die Einstellung, die variiert wird</translation>
    </message>
    <message>
        <source>Values of {place}</source>
        <translation>Werte der {place}</translation>
    </message>
    <message>
        <source>Values with commas in them are divided by |.</source>
        <translation>Werte, die Kommas enthalten, werden durch | getrennt.</translation>
    </message>
    <message>
        <source>Values, divided by commas</source>
        <translation>Werte, durch Kommas getrennt</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>{count}: {shape}</source>
        <translation>{count}: {shape}</translation>
    </message>
</context>
<context>
    <name>GridModel</name>
    <message>
        <source>A setting is chosen twice.</source>
        <translation>Eine Einstellung ist zweimal gewählt.</translation>
    </message>
    <message>
        <source>At most {images} images, and {values} values of each setting.</source>
        <translation>Höchstens {images} Bilder und {values} Werte pro Einstellung.</translation>
    </message>
    <message>
        <source>Choose a setting and its values.</source>
        <translation>Eine Einstellung und ihre Werte wählen.</translation>
    </message>
    <message>
        <source>The alternatives of the prompt are an axis, too: leave one out.</source>
        <translation>Die Alternativen des Prompts sind auch eine Achse: eine weglassen.</translation>
    </message>
    <message>
        <source>Write a prompt first.</source>
        <translation>Zuerst einen Prompt schreiben.</translation>
    </message>
    <message>
        <source>{name}: a value is there twice.</source>
        <translation>{name}: Ein Wert kommt zweimal vor.</translation>
    </message>
    <message>
        <source>{name}: write values, divided by commas.</source>
        <translation>{name}: Werte eingeben, durch Kommas getrennt.</translation>
    </message>
</context>
<context>
    <name>HistoryDialog</name>
    <message>
        <source>Earlier prompts</source>
        <translation>Frühere Prompts</translation>
    </message>
    <message>
        <source>Enter or a double click uses a prompt</source>
        <translation>Eingabe oder ein Doppelklick übernimmt einen Prompt</translation>
    </message>
    <message>
        <source>Keep the prompt as it is</source>
        <translation>Den Prompt lassen, wie er ist</translation>
    </message>
    <message>
        <source>No prompt has these words.</source>
        <translation>Kein Prompt enthält diese Wörter.</translation>
    </message>
    <message>
        <source>No prompts yet.</source>
        <translation>Noch keine Prompts.</translation>
    </message>
    <message>
        <source>Replace the prompt by this one; Ctrl+Z undoes it</source>
        <translation>Den Prompt durch diesen ersetzen; Strg+Z macht es rückgängig</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search in earlier prompts</source>
        <translation>In früheren Prompts suchen</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Words in any order; Down moves to the list</source>
        <translation>Wörter in beliebiger Reihenfolge; Pfeil nach unten führt zur Liste</translation>
    </message>
</context>
<context>
    <name>ImageActions</name>
    <message numerus="yes">
        <source>%n stars</source>
        <translation>
            <numerusform>%n Stern</numerusform>
            <numerusform>%n Sterne</numerusform>
        </translation>
    </message>
    <message>
        <source>Copy image</source>
        <translation>Bild kopieren</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>In den Papierkorb</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>New board</source>
        <translation>Neues Board</translation>
    </message>
    <message>
        <source>New board…</source>
        <translation>Neues Board…</translation>
    </message>
    <message>
        <source>No stars</source>
        <translation>Keine Sterne</translation>
    </message>
    <message>
        <source>Put on a board</source>
        <translation>Auf ein Board legen</translation>
    </message>
    <message>
        <source>Remix</source>
        <translation>Remix</translation>
    </message>
    <message>
        <source>Same seed, other model</source>
        <translation>Gleicher Seed, anderes Modell</translation>
    </message>
    <message>
        <source>Saved: {name}</source>
        <translation>Gespeichert: {name}</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Im Ordner anzeigen</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>Sterne</translation>
    </message>
    <message>
        <source>Upscale</source>
        <translation>Hochskalieren</translation>
    </message>
    <message>
        <source>Variations</source>
        <translation>Variationen</translation>
    </message>
</context>
<context>
    <name>ImageBar</name>
    <message>
        <source>Actual size (1)</source>
        <translation>Originalgröße (1)</translation>
    </message>
    <message>
        <source>Fit to window (0)</source>
        <translation>An Fenster anpassen (0)</translation>
    </message>
    <message>
        <source>Zoom in (+)</source>
        <translation>Vergrößern (+)</translation>
    </message>
    <message>
        <source>Zoom out (-)</source>
        <translation>Verkleinern (-)</translation>
    </message>
    <message>
        <source>{0} %</source>
        <translation>{0} %</translation>
    </message>
</context>
<context>
    <name>ImageInput</name>
    <message>
        <source>Almost everything changes</source>
        <translation>Fast alles ändert sich</translation>
    </message>
    <message>
        <source>Canvas extended: {0} pixels.</source>
        <translation>Leinwand erweitert: {0} Pixel.</translation>
    </message>
    <message>
        <source>Details change, shapes and colours stay</source>
        <translation>Details ändern sich, Formen und Farben bleiben</translation>
    </message>
    <message>
        <source>Everything changes</source>
        <translation>Alles ändert sich</translation>
    </message>
    <message>
        <source>Hardly anything changes</source>
        <translation>Kaum etwas ändert sich</translation>
    </message>
    <message>
        <source>Most of the image changes; it is a loose guide</source>
        <translation>Das meiste am Bild ändert sich; es ist eine lose Vorlage</translation>
    </message>
    <message>
        <source>Only the masked area is generated.</source>
        <translation>Nur der maskierte Bereich wird generiert.</translation>
    </message>
    <message>
        <source>Parts change, the composition stays</source>
        <translation>Teile ändern sich, die Komposition bleibt</translation>
    </message>
    <message>
        <source>Result: {0} × {1} pixels.</source>
        <translation>Ergebnis: {0} × {1} Pixel.</translation>
    </message>
    <message>
        <source>Result: {0} × {1} pixels; {2} % of the image is cropped at the sides.</source>
        <translation>Ergebnis: {0} × {1} Pixel; {2} % des Bildes werden an den Seiten abgeschnitten.</translation>
    </message>
    <message>
        <source>Result: {0} × {1} pixels; {2} % of the image is cropped at top and bottom.</source>
        <translation>Ergebnis: {0} × {1} Pixel; {2} % des Bildes werden oben und unten abgeschnitten.</translation>
    </message>
    <message>
        <source>bottom {0}</source>
        <translation>unten {0}</translation>
    </message>
    <message>
        <source>left {0}</source>
        <translation>links {0}</translation>
    </message>
    <message>
        <source>right {0}</source>
        <translation>rechts {0}</translation>
    </message>
    <message>
        <source>top {0}</source>
        <translation>oben {0}</translation>
    </message>
</context>
<context>
    <name>ImageInputModel</name>
    <message>
        <source>There is no image on the clipboard.</source>
        <translation>In der Zwischenablage ist kein Bild.</translation>
    </message>
</context>
<context>
    <name>ImageInputPanel</name>
    <message>
        <source>All files</source>
        <translation>Alle Dateien</translation>
    </message>
    <message>
        <source>Choose an image file</source>
        <translation>Bilddatei wählen</translation>
    </message>
    <message>
        <source>Choose an init image</source>
        <translation>Ausgangsbild wählen</translation>
    </message>
    <message>
        <source>Choose another image</source>
        <translation>Anderes Bild wählen</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Denoising strength</source>
        <translation>Denoising-Stärke</translation>
    </message>
    <message>
        <source>Drop an init image here, or</source>
        <translation>Ausgangsbild hier ablegen oder</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Init image</source>
        <translation>Ausgangsbild</translation>
    </message>
    <message>
        <source>Inpaint / outpaint…</source>
        <translation>Inpainting/Outpainting…</translation>
    </message>
    <message>
        <source>Low stays close to the image, high changes more of it.</source>
        <translation>Niedrig bleibt nah am Bild, hoch verändert mehr.</translation>
    </message>
    <message>
        <source>Opens the canvas: paint a mask, or move the frame beyond the image</source>
        <translation>Öffnet die Arbeitsfläche: eine Maske malen oder den Rahmen über das Bild hinausziehen</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <source>Paste an init image</source>
        <translation>Ausgangsbild einfügen</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message>
        <source>Remove the init image</source>
        <translation>Ausgangsbild entfernen</translation>
    </message>
    <message>
        <source>Remove the mask and the extended canvas</source>
        <translation>Maske und erweiterte Leinwand entfernen</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>Stärke</translation>
    </message>
    <message>
        <source>That is a web address, not a file: save the image first, then drop the file.</source>
        <translation>Das ist eine Webadresse, keine Datei: das Bild zuerst speichern, dann die Datei ablegen.</translation>
    </message>
    <message>
        <source>There is no init image.</source>
        <translation>Es gibt kein Ausgangsbild.</translation>
    </message>
    <message>
        <source>Thumbnail of the init image</source>
        <translation>Vorschaubild des Ausgangsbilds</translation>
    </message>
    <message>
        <source>Use its size</source>
        <translation>Größe übernehmen</translation>
    </message>
    <message>
        <source>Use the image on the clipboard (Ctrl+V)</source>
        <translation>Bild aus der Zwischenablage verwenden (Strg+V)</translation>
    </message>
    <message>
        <source>Use the size of this image</source>
        <translation>Die Größe dieses Bildes verwenden</translation>
    </message>
    <message>
        <source>{0} %</source>
        <translation>{0} %</translation>
    </message>
    <message>
        <source>{0} × {1} pixels</source>
        <translation>{0} × {1} Pixel</translation>
    </message>
</context>
<context>
    <name>ImageSettings</name>
    <message>
        <source>A pattern such as [date]/[seed].png; existing files are never replaced</source>
        <translation>Ein Muster wie [date]/[seed].png; vorhandene Dateien werden nie ersetzt</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>Also in the gallery</source>
        <translation>Auch in der Galerie</translation>
    </message>
    <message>
        <source>Also show its images in the gallery; nothing is copied</source>
        <translation>Seine Bilder auch in der Galerie anzeigen; nichts wird kopiert</translation>
    </message>
    <message>
        <source>Choose the folder</source>
        <translation>Ordner wählen</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>File names</source>
        <translation>Dateinamen</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Image folder</source>
        <translation>Bilderordner</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <source>Reset to {template}</source>
        <translation>Auf {template} zurücksetzen</translation>
    </message>
    <message>
        <source>Tokens: {tokens}; / starts a folder</source>
        <translation>Platzhalter: {tokens}; / beginnt einen Ordner</translation>
    </message>
    <message>
        <source>Where new images are saved; empty: Mezzotint in your Pictures folder</source>
        <translation>Wo neue Bilder gespeichert werden; leer: „Mezzotint“ im eigenen Bilderordner</translation>
    </message>
</context>
<context>
    <name>ImageView</name>
    <message>
        <source>After</source>
        <translation>Nachher</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>Vorher</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>This image is empty.</source>
        <translation>Dieses Bild ist leer.</translation>
    </message>
    <message>
        <source>{width} by {height} pixels, zoom {percent} %</source>
        <translation>{width} mal {height} Pixel, Zoom {percent} %</translation>
    </message>
</context>
<context>
    <name>ImagesAgain</name>
    <message numerus="yes">
        <source>%n variations are waiting in the queue</source>
        <translation>
            <numerusform>%n Variation wartet in der Warteschlange</numerusform>
            <numerusform>%n Variationen warten in der Warteschlange</numerusform>
        </translation>
    </message>
    <message>
        <source>This image has no generation metadata</source>
        <translation>Dieses Bild hat keine Metadaten zur Erzeugung</translation>
    </message>
    <message>
        <source>This image has no seed in its metadata, so it cannot be made again</source>
        <translation>Dieses Bild hat keinen Seed in seinen Metadaten und lässt sich daher nicht erneut erzeugen</translation>
    </message>
    <message>
        <source>Waiting in the queue: {0}</source>
        <translation>Wartet in der Warteschlange: {0}</translation>
    </message>
</context>
<context>
    <name>ImagesModel</name>
    <message>
        <source>Image {0}, seed {1}</source>
        <translation>Bild {0}, Seed {1}</translation>
    </message>
</context>
<context>
    <name>IntervalSpin</name>
    <message>
        <source>to</source>
        <translation>bis</translation>
    </message>
    <message>
        <source>{name}, end</source>
        <translation>{name}, Ende</translation>
    </message>
    <message>
        <source>{name}, start</source>
        <translation>{name}, Anfang</translation>
    </message>
</context>
<context>
    <name>JobLine</name>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Dismiss: {title}</source>
        <translation>Ausblenden: {title}</translation>
    </message>
    <message>
        <source>Done.</source>
        <translation>Fertig.</translation>
    </message>
    <message>
        <source>Downloading {subject}</source>
        <translation>{subject} wird heruntergeladen</translation>
    </message>
    <message>
        <source>Failed.</source>
        <translation>Fehlgeschlagen.</translation>
    </message>
    <message>
        <source>Quantizing {subject}</source>
        <translation>{subject} wird quantisiert</translation>
    </message>
    <message>
        <source>Retry; it is resumed from where it stopped</source>
        <translation>Wiederholen; es geht dort weiter, wo es stehen blieb</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>Stop: {title}</source>
        <translation>Stoppen: {title}</translation>
    </message>
    <message>
        <source>Stop; it is resumed from here the next time</source>
        <translation>Stoppen; beim nächsten Mal geht es hier weiter</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>Gestoppt.</translation>
    </message>
    <message>
        <source>Try again: {title}</source>
        <translation>Erneut versuchen: {title}</translation>
    </message>
    <message>
        <source>Verifying {subject}</source>
        <translation>{subject} wird geprüft</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} von {total}</translation>
    </message>
</context>
<context>
    <name>LayersPanel</name>
    <message>
        <source>A reference image, for models that edit</source>
        <translation>Ein Referenzbild, für Modelle, die bearbeiten</translation>
    </message>
    <message>
        <source>Add a layer</source>
        <translation>Ebene hinzufügen</translation>
    </message>
    <message>
        <source>Change the layer&apos;s kind</source>
        <translation>Art der Ebene ändern</translation>
    </message>
    <message>
        <source>Clear layer</source>
        <translation>Ebene leeren</translation>
    </message>
    <message>
        <source>Colours that generation starts from</source>
        <translation>Farben, mit denen das Generieren beginnt</translation>
    </message>
    <message>
        <source>Copy of the selected layer</source>
        <translation>Kopie der ausgewählten Ebene</translation>
    </message>
    <message>
        <source>Layer opacity</source>
        <translation>Deckkraft der Ebene</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Ebenen</translation>
    </message>
    <message>
        <source>Move layer down</source>
        <translation>Ebene nach unten</translation>
    </message>
    <message>
        <source>Move layer up</source>
        <translation>Ebene nach oben</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Opacity</source>
        <translation>Deckkraft</translation>
    </message>
    <message>
        <source>Percent</source>
        <translation>Prozent</translation>
    </message>
    <message>
        <source>Pixels of the picture</source>
        <translation>Pixel des Bildes</translation>
    </message>
    <message>
        <source>Remove layer</source>
        <translation>Ebene entfernen</translation>
    </message>
    <message>
        <source>Rename layer</source>
        <translation>Ebene umbenennen</translation>
    </message>
    <message>
        <source>Rename layer…</source>
        <translation>Ebene umbenennen…</translation>
    </message>
    <message>
        <source>Scale layer</source>
        <translation>Ebene skalieren</translation>
    </message>
    <message>
        <source>Scale layer…</source>
        <translation>Ebene skalieren…</translation>
    </message>
    <message>
        <source>The image of a ControlNet</source>
        <translation>Das Bild eines ControlNets</translation>
    </message>
    <message>
        <source>The layer is empty, or would become too large.</source>
        <translation>Die Ebene ist leer oder würde zu groß.</translation>
    </message>
    <message>
        <source>Tools change the selected layer; Space shows or hides it</source>
        <translation>Werkzeuge ändern die gewählte Ebene; die Leertaste blendet sie ein oder aus</translation>
    </message>
    <message>
        <source>Where the picture is generated anew</source>
        <translation>Wo das Bild neu generiert wird</translation>
    </message>
</context>
<context>
    <name>LeaseKeeper</name>
    <message>
        <source>A batch</source>
        <translation>Ein Batch</translation>
    </message>
    <message>
        <source>the window</source>
        <translation>das Fenster</translation>
    </message>
</context>
<context>
    <name>LibrarianNotice</name>
    <message>
        <source>It does not restart automatically.</source>
        <translation>Er startet nicht automatisch neu.</translation>
    </message>
    <message>
        <source>It is restarting.</source>
        <translation>Er startet neu.</translation>
    </message>
    <message>
        <source>Restart</source>
        <translation>Neu starten</translation>
    </message>
    <message>
        <source>Restart the library service</source>
        <translation>Den Bibliotheksdienst neu starten</translation>
    </message>
    <message>
        <source>The gallery, models and dropped files are unavailable until then; image generation is not affected.</source>
        <translation>Galerie, Modelle und abgelegte Dateien sind bis dahin nicht verfügbar; das Generieren von Bildern ist nicht betroffen.</translation>
    </message>
    <message>
        <source>The library service is taking a long time to start.</source>
        <translation>Der Bibliotheksdienst braucht lange zum Starten.</translation>
    </message>
    <message>
        <source>Try to start the library service again</source>
        <translation>Noch einmal versuchen, den Bibliotheksdienst zu starten</translation>
    </message>
</context>
<context>
    <name>LogDialog</name>
    <message>
        <source>Close the log</source>
        <translation>Protokoll schließen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy all lines, for a bug report</source>
        <translation>Alle Zeilen kopieren, für einen Fehlerbericht</translation>
    </message>
    <message>
        <source>Engine log</source>
        <translation>Engine-Protokoll</translation>
    </message>
    <message>
        <source>Last lines of the log</source>
        <translation>Letzte Zeilen des Protokolls</translation>
    </message>
    <message>
        <source>No output from the engine yet.</source>
        <translation>Noch keine Ausgabe der Engine.</translation>
    </message>
    <message>
        <source>Restart engine</source>
        <translation>Engine neu starten</translation>
    </message>
    <message>
        <source>The current image starts over</source>
        <translation>Das aktuelle Bild beginnt von vorn</translation>
    </message>
    <message>
        <source>The engine&apos;s latest output</source>
        <translation>Die letzten Ausgaben der Engine</translation>
    </message>
</context>
<context>
    <name>LoraBrowser</name>
    <message>
        <source>About this LoRA</source>
        <translation>Über dieses LoRA</translation>
    </message>
    <message>
        <source>Add to prompt</source>
        <translation>Zum Prompt hinzufügen</translation>
    </message>
    <message>
        <source>All base models</source>
        <translation>Alle Basismodelle</translation>
    </message>
    <message>
        <source>All tags</source>
        <translation>Alle Schlagwörter</translation>
    </message>
    <message>
        <source>Base model</source>
        <translation>Basismodell</translation>
    </message>
    <message>
        <source>Find LoRAs</source>
        <translation>LoRAs suchen</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
    <message>
        <source>No LoRAs match.</source>
        <translation>Keine passenden LoRAs.</translation>
    </message>
    <message>
        <source>No LoRAs yet. Add a folder named loras or Lora, or one that contains such a folder.</source>
        <translation>Noch keine LoRAs. Fügen Sie einen Ordner hinzu, der loras oder Lora heißt oder einen solchen enthält.</translation>
    </message>
    <message>
        <source>Only LoRAs for this kind of model</source>
        <translation>Nur LoRAs für diese Art von Modell</translation>
    </message>
    <message>
        <source>Only LoRAs with this tag</source>
        <translation>Nur LoRAs mit diesem Schlagwort</translation>
    </message>
    <message>
        <source>Searching for LoRAs…</source>
        <translation>LoRAs werden gesucht…</translation>
    </message>
    <message>
        <source>Show those with this in their name, tags or trigger words</source>
        <translation>Nur LoRAs zeigen, deren Name, Schlagwörter oder Auslösewörter dies enthalten</translation>
    </message>
    <message>
        <source>Tag</source>
        <translation>Schlagwort</translation>
    </message>
    <message>
        <source>Use it on the Create page, with its trigger words in the prompt</source>
        <translation>Auf der Seite „Erstellen“ verwenden, mit seinen Auslösewörtern im Prompt</translation>
    </message>
</context>
<context>
    <name>LoraDialog</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
</context>
<context>
    <name>LoraList</name>
    <message>
        <source>Add LoRA…</source>
        <translation>LoRA hinzufügen…</translation>
    </message>
    <message>
        <source>All LoRAs found, with thumbnails and trigger words</source>
        <translation>Alle gefundenen LoRAs, mit Vorschaubildern und Auslösewörtern</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Durchsuchen…</translation>
    </message>
    <message>
        <source>Choose LoRA files, or drop them here</source>
        <translation>LoRA-Dateien wählen oder hier ablegen</translation>
    </message>
    <message>
        <source>Choose LoRAs</source>
        <translation>LoRAs wählen</translation>
    </message>
</context>
<context>
    <name>LoraRow</name>
    <message>
        <source>Move down</source>
        <translation>Nach unten</translation>
    </message>
    <message>
        <source>Move up</source>
        <translation>Nach oben</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <source>Strength of the LoRA; negative values push away from what it was trained for. Ctrl and mouse wheel over the row change it</source>
        <translation>Stärke des LoRAs; negative Werte führen weg von dem, wofür es trainiert wurde. Strg und Mausrad über der Zeile ändern sie</translation>
    </message>
    <message>
        <source>Use LoRA {name}</source>
        <translation>LoRA {name} verwenden</translation>
    </message>
    <message>
        <source>Weight</source>
        <translation>Gewicht</translation>
    </message>
    <message>
        <source>Weight of {name}</source>
        <translation>Gewicht von {name}</translation>
    </message>
    <message>
        <source>Weight of {name}, slider</source>
        <translation>Gewicht von {name}, Regler</translation>
    </message>
</context>
<context>
    <name>LossPlot</name>
    <message>
        <source>How far the model is from the images: it falls fast at first. The samples say more than this.</source>
        <translation>Wie weit das Modell von den Bildern entfernt ist: Der Wert fällt anfangs schnell. Die Beispielbilder sagen mehr aus.</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Verlust</translation>
    </message>
    <message>
        <source>No steps yet</source>
        <translation>Noch keine Schritte</translation>
    </message>
    <message>
        <source>Training loss {loss}</source>
        <translation>Trainingsverlust {loss}</translation>
    </message>
    <message>
        <source>step {step}</source>
        <translation>Schritt {step}</translation>
    </message>
    <message>
        <source>validation loss {loss} (dashed)</source>
        <translation>Validierungsverlust {loss} (gestrichelt)</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Batch</source>
        <translation>Batch</translation>
    </message>
    <message>
        <source>Canvas</source>
        <translation>Arbeitsfläche</translation>
    </message>
    <message>
        <source>Create</source>
        <translation>Erstellen</translation>
    </message>
    <message>
        <source>Gallery</source>
        <translation>Galerie</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>Style {name} saved</source>
        <translation>Stil {name} gespeichert</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>Trainieren</translation>
    </message>
    <message>
        <source>{model} was chosen, which {name} is for.</source>
        <translation>{model} wurde gewählt, wofür {name} gemacht ist.</translation>
    </message>
    <message>
        <source>{name} is for another kind of model ({base}), which is not installed.</source>
        <translation>{name} ist für eine andere Art von Modell ({base}), die nicht installiert ist.</translation>
    </message>
</context>
<context>
    <name>MemoryBar</name>
    <message>
        <source>Memory: {parts}</source>
        <translation>Speicher: {parts}</translation>
    </message>
</context>
<context>
    <name>ModelChoices</name>
    <message>
        <source>A conditional refiner: it enlarges images of another model. Choose it under Refine with.</source>
        <translation>Ein bedingter Refiner: er vergrößert Bilder eines anderen Modells. Wählen Sie ihn unter „Verfeinern mit“.</translation>
    </message>
    <message>
        <source>A refiner: it finishes images of another model. Choose it under Refiner.</source>
        <translation>Ein Refiner: Er vollendet Bilder eines anderen Modells. Unter „Refiner“ wählen.</translation>
    </message>
    <message>
        <source>Allow searching online</source>
        <translation>Online-Suche erlauben</translation>
    </message>
    <message>
        <source>Found on Hugging Face</source>
        <translation>Auf Hugging Face gefunden</translation>
    </message>
    <message>
        <source>Lists models with these words in their names; downloads nothing</source>
        <translation>Listet Modelle mit diesen Wörtern im Namen auf; lädt nichts herunter</translation>
    </message>
    <message>
        <source>No image models with these words in their names; try fewer words</source>
        <translation>Keine Bildmodelle mit diesen Wörtern im Namen; versuchen Sie weniger Wörter</translation>
    </message>
    <message>
        <source>Only these words are sent, when you press Return or “Search”</source>
        <translation>Nur diese Wörter werden gesendet, bei Eingabe oder „Suchen“</translation>
    </message>
    <message>
        <source>Recommended models</source>
        <translation>Empfohlene Modelle</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search Hugging Face by name</source>
        <translation>Hugging Face nach Namen durchsuchen</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>Suche läuft …</translation>
    </message>
    <message>
        <source>The words you search for are then sent to Hugging Face</source>
        <translation>Die Suchwörter werden dann an Hugging Face gesendet</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>family not stated</source>
        <translation>Familie nicht angegeben</translation>
    </message>
    <message>
        <source>from {least} of VRAM</source>
        <translation>ab {least} VRAM</translation>
    </message>
    <message>
        <source>gated</source>
        <translation>zugangsbeschränkt</translation>
    </message>
    <message>
        <source>not supported</source>
        <translation>nicht unterstützt</translation>
    </message>
    <message>
        <source>runs slower</source>
        <translation>läuft langsamer</translation>
    </message>
    <message>
        <source>runs well</source>
        <translation>läuft gut</translation>
    </message>
    <message>
        <source>{n} downloads</source>
        <translation>{n} Downloads</translation>
    </message>
</context>
<context>
    <name>ModelDetails</name>
    <message>
        <source>About this model</source>
        <translation>Über dieses Modell</translation>
    </message>
    <message>
        <source>Cannot be used</source>
        <translation>Nicht verwendbar</translation>
    </message>
    <message>
        <source>Compare every file with its checksum</source>
        <translation>Jede Datei mit ihrer Prüfsumme vergleichen</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>Familie</translation>
    </message>
    <message>
        <source>No model selected</source>
        <translation>Kein Modell ausgewählt</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>Open Create with this model</source>
        <translation>„Erstellen“ mit diesem Modell öffnen</translation>
    </message>
    <message>
        <source>Open the folder of its files</source>
        <translation>Den Ordner seiner Dateien öffnen</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Quantize…</source>
        <translation>Quantisieren…</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>Aus der Liste entfernen</translation>
    </message>
    <message>
        <source>Removes the model from the list; no file is deleted</source>
        <translation>Entfernt das Modell aus der Liste; keine Datei wird gelöscht</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Im Ordner anzeigen</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Use in Create</source>
        <translation>In „Erstellen“ verwenden</translation>
    </message>
    <message>
        <source>Verify files</source>
        <translation>Dateien prüfen</translation>
    </message>
    <message>
        <source>Weights in 8 or 4 bits: less memory, nearly the same images</source>
        <translation>Gewichte mit 8 oder 4 Bit: weniger Speicher, fast dieselben Bilder</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Ort</translation>
    </message>
    <message>
        <source>calculating…</source>
        <translation>wird berechnet…</translation>
    </message>
    <message>
        <source>full</source>
        <translation>voll</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>{width} × {height}, {steps} steps, CFG scale {guidance}</source>
        <translation>{width} × {height}, {steps} Schritte, CFG-Skala {guidance}</translation>
    </message>
</context>
<context>
    <name>ModelFoldersDialog</name>
    <message>
        <source>A model folder, or a ComfyUI or A1111 installation</source>
        <translation>Ein Modellordner oder eine ComfyUI- oder A1111-Installation</translation>
    </message>
    <message>
        <source>A model folder, or the root folder of a ComfyUI or A1111 installation; nothing is copied</source>
        <translation>Ein Modellordner oder der Hauptordner einer ComfyUI- oder A1111-Installation; nichts wird kopiert</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Model folders</source>
        <translation>Modellordner</translation>
    </message>
    <message>
        <source>Models are used in place. Unmarked folders belong to the system or to Mezzotint.</source>
        <translation>Modelle werden an Ort und Stelle verwendet. Nicht markierte Ordner gehören zum System oder zu Mezzotint.</translation>
    </message>
    <message>
        <source>Models removed from the list</source>
        <translation>Aus der Liste entfernte Modelle</translation>
    </message>
    <message>
        <source>Not in the list</source>
        <translation>Nicht in der Liste</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Searched folders</source>
        <translation>Durchsuchte Ordner</translation>
    </message>
    <message>
        <source>Show the model in the list again</source>
        <translation>Das Modell wieder in der Liste anzeigen</translation>
    </message>
    <message>
        <source>Stop searching the folder; nothing in it is deleted</source>
        <translation>Den Ordner nicht mehr durchsuchen; nichts darin wird gelöscht</translation>
    </message>
    <message>
        <source>added by you</source>
        <translation>selbst hinzugefügt</translation>
    </message>
</context>
<context>
    <name>ModelLibrary</name>
    <message numerus="yes">
        <source>All %n files are complete; there are no checksums to compare with.</source>
        <translation>
            <numerusform>Die Datei ist vollständig; es gibt keine Prüfsumme zum Vergleichen.</numerusform>
            <numerusform>Alle %n Dateien sind vollständig; es gibt keine Prüfsummen zum Vergleichen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>All %n files match their checksums.</source>
        <translation>
            <numerusform>Die Datei stimmt mit ihrer Prüfsumme überein.</numerusform>
            <numerusform>Alle %n Dateien stimmen mit ihren Prüfsummen überein.</numerusform>
        </translation>
    </message>
    <message>
        <source>{model} was removed from the list; use “Folders…” to show it again.</source>
        <translation>{model} wurde aus der Liste entfernt; über „Ordner…“ wieder anzeigen.</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>No new models found there. LoRAs are in the tab LoRAs.</source>
        <translation>Dort wurden keine neuen Modelle gefunden. LoRAs stehen im Tab LoRAs.</translation>
    </message>
</context>
<context>
    <name>ModelsFound</name>
    <message numerus="yes">
        <source>%n files cannot be used: {names}. The Models page shows why.</source>
        <translation>
            <numerusform>%n Datei ist unbrauchbar: {names}. Der Grund steht auf der Seite „Modelle“.</numerusform>
            <numerusform>%n Dateien sind unbrauchbar: {names}. Der Grund steht auf der Seite „Modelle“.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n models added: {names}. Select one under Model.</source>
        <translation>
            <numerusform>%n Modell hinzugefügt: {names}. Unter „Modell“ auswählen.</numerusform>
            <numerusform>%n Modelle hinzugefügt: {names}. Eines unter „Modell“ auswählen.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <source>A model folder, or a ComfyUI or A1111 installation</source>
        <translation>Ein Modellordner oder eine ComfyUI- oder A1111-Installation</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>All families</source>
        <translation>Alle Familien</translation>
    </message>
    <message>
        <source>All tags</source>
        <translation>Alle Schlagwörter</translation>
    </message>
    <message>
        <source>Choose from a list, search Hugging Face, or enter a model</source>
        <translation>Aus einer Liste wählen, Hugging Face durchsuchen oder ein Modell eingeben</translation>
    </message>
    <message>
        <source>Download a model…</source>
        <translation>Modell herunterladen…</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>Familie</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>Modelle suchen</translation>
    </message>
    <message>
        <source>Folders…</source>
        <translation>Ordner…</translation>
    </message>
    <message>
        <source>List the models in a folder, or in a ComfyUI or A1111 installation; nothing is copied</source>
        <translation>Die Modelle in einem Ordner oder in einer ComfyUI- oder A1111-Installation auflisten; nichts wird kopiert</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
    <message>
        <source>Model folders, and models removed from the list</source>
        <translation>Modellordner und aus der Liste entfernte Modelle</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Models and LoRAs</source>
        <translation>Modelle und LoRAs</translation>
    </message>
    <message>
        <source>Models on this machine</source>
        <translation>Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <source>Only models of this family</source>
        <translation>Nur Modelle dieser Familie</translation>
    </message>
    <message>
        <source>Only models with this tag</source>
        <translation>Nur Modelle mit diesem Schlagwort</translation>
    </message>
    <message>
        <source>Rescan</source>
        <translation>Neu einlesen</translation>
    </message>
    <message>
        <source>Search all folders again</source>
        <translation>Alle Ordner erneut durchsuchen</translation>
    </message>
    <message>
        <source>Show models with this in their name, tags or trigger words</source>
        <translation>Nur Modelle zeigen, deren Name, Schlagwörter oder Auslösewörter dies enthalten</translation>
    </message>
    <message>
        <source>Tag</source>
        <translation>Schlagwort</translation>
    </message>
</context>
<context>
    <name>ModelsTable</name>
    <message>
        <source>A1111</source>
        <translation>A1111</translation>
    </message>
    <message>
        <source>ComfyUI</source>
        <translation>ComfyUI</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>Familie</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Herkunft</translation>
    </message>
    <message>
        <source>Hugging Face cache</source>
        <translation>Hugging-Face-Cache</translation>
    </message>
    <message>
        <source>Memory needed</source>
        <translation>Speicherbedarf</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>added file</source>
        <translation>hinzugefügte Datei</translation>
    </message>
    <message>
        <source>added folder</source>
        <translation>hinzugefügter Ordner</translation>
    </message>
    <message>
        <source>bundled</source>
        <translation>mitgeliefert</translation>
    </message>
    <message>
        <source>cannot be used</source>
        <translation>nicht verwendbar</translation>
    </message>
    <message>
        <source>does not fit: needs at least {least}</source>
        <translation>passt nicht: braucht mindestens {least}</translation>
    </message>
    <message>
        <source>full</source>
        <translation>voll</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>your models</source>
        <translation>eigene Modelle</translation>
    </message>
    <message>
        <source>{peak}, streamed</source>
        <translation>{peak}, gestreamt</translation>
    </message>
</context>
<context>
    <name>Navigation</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Hide this message</source>
        <translation>Diese Meldung ausblenden</translation>
    </message>
</context>
<context>
    <name>Notifications</name>
    <message numerus="yes">
        <source>Failed: %n. See the queue for details.</source>
        <translation>
            <numerusform>Fehlgeschlagen: %n. Details stehen in der Warteschlange.</numerusform>
            <numerusform>Fehlgeschlagen: %n. Details stehen in der Warteschlange.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Images generated: %n.</source>
        <translation>
            <numerusform>Generierte Bilder: %n.</numerusform>
            <numerusform>Generierte Bilder: %n.</numerusform>
        </translation>
    </message>
    <message>
        <source>Mezzotint</source>
        <translation>Mezzotint</translation>
    </message>
    <message>
        <source>Queue finished</source>
        <translation>Warteschlange fertig</translation>
    </message>
</context>
<context>
    <name>Options</name>
    <message>
        <source>CFG interval</source>
        <translation>CFG-Intervall</translation>
    </message>
    <message>
        <source>CFG interval: guide only between these two parts of the schedule; the steps outside take half the time</source>
        <translation>CFG-Intervall: Guidance nur zwischen diesen beiden Teilen des Schedules; die Schritte außerhalb dauern halb so lange</translation>
    </message>
    <message>
        <source>CFG rescale</source>
        <translation>CFG-Rescale</translation>
    </message>
    <message>
        <source>CFG rescale, against overexposure at a high CFG scale</source>
        <translation>CFG-Rescale, gegen Überbelichtung bei hoher CFG-Skala</translation>
    </message>
    <message>
        <source>CFG scale</source>
        <translation>CFG-Skala</translation>
    </message>
    <message>
        <source>CFG scale: how closely the prompt is followed; at 1 or less the negative prompt is ignored</source>
        <translation>CFG-Skala: wie genau dem Prompt gefolgt wird; bei 1 oder weniger hat der Negativ-Prompt keine Wirkung</translation>
    </message>
    <message>
        <source>Clip skip</source>
        <translation>Clip-Skip</translation>
    </message>
    <message>
        <source>Deep shrink</source>
        <translation>Deep Shrink</translation>
    </message>
    <message>
        <source>Denoising tiles</source>
        <translation>Denoising-Kacheln</translation>
    </message>
    <message>
        <source>Sampler</source>
        <translation>Sampler</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>Sparse attention</source>
        <translation>Sparse Attention</translation>
    </message>
    <message>
        <source>Step cache</source>
        <translation>Schritt-Cache</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Token reduction</source>
        <translation>Token-Reduktion</translation>
    </message>
    <message>
        <source>True CFG</source>
        <translation>Echtes CFG</translation>
    </message>
    <message>
        <source>Variation seed</source>
        <translation>Variations-Seed</translation>
    </message>
    <message>
        <source>Variation strength</source>
        <translation>Variationsstärke</translation>
    </message>
    <message>
        <source>deep shrink: divide the size inside the U-Net during the first third of the schedule; faster, and without repeated subjects in images larger than the model was trained for</source>
        <translation>Deep Shrink: im ersten Drittel des Schedules rechnet das U-Net innen mit geteilter Größe; schneller und ohne wiederholte Motive in Bildern, die größer sind als die beim Training</translation>
    </message>
    <message>
        <source>denoising tiles: where an image is enlarged, by the hires fix or from an init image, denoise it in overlapping tiles of this size, blended in each step, so that far larger images fit the card; auto plans the size; each tile has the whole prompt, so that a strength above 0.3 may repeat subjects</source>
        <translation>Denoising-Kacheln: wird ein Bild vergrößert, durch den Hires-Fix oder aus einem Ausgangsbild, wird es in überlappenden Kacheln dieser Größe entrauscht, die in jedem Schritt ineinander übergehen, sodass weit größere Bilder auf die Karte passen; auto plant die Größe; jede Kachel bekommt den ganzen Prompt, daher können sich Motive bei einer Stärke über 0,3 wiederholen</translation>
    </message>
    <message>
        <source>how far the start noise moves from that of the seed to that of the variation seed: about 0.1 to 0.3 for variations of one image</source>
        <translation>wie weit sich das Startrauschen von dem des Seeds zu dem des Variations-Seeds bewegt: etwa 0,1 bis 0,3 für Variationen eines Bildes</translation>
    </message>
    <message>
        <source>how the noise levels of the steps are spaced</source>
        <translation>wie die Rauschstufen der Schritte verteilt sind</translation>
    </message>
    <message>
        <source>more steps take longer and gain little beyond the model default</source>
        <translation>mehr Schritte dauern länger und bringen über den Modellstandard hinaus wenig</translation>
    </message>
    <message>
        <source>seed of the noise that is blended in with --variation-strength</source>
        <translation>Seed des Rauschens, das mit --variation-strength beigemischt wird</translation>
    </message>
    <message>
        <source>sparse attention: each tile of the image sees a part of the others; pooled chooses the most similar ones and sees the means of the rest, window takes the nearest, topk drops the rest; tiles divides the image into large tiles that see only themselves (HyperTile); changes details, and does nothing below 10,000 image tokens unless a density is given</source>
        <translation>Sparse Attention: jede Kachel des Bildes sieht nur einen Teil der anderen; pooled wählt die ähnlichsten und sieht von den übrigen die Mittelwerte, window nimmt die nächsten, topk lässt die übrigen weg; tiles teilt das Bild in große Kacheln, die nur sich selbst sehen (HyperTile); verändert Details und bewirkt unter 10.000 Bild-Token nichts, wenn keine Dichte angegeben ist</translation>
    </message>
    <message>
        <source>step cache: reuse the last step&apos;s result of a denoiser&apos;s blocks while the first of them changes less than this, such as 0.1; auto is 0.1 for transformers and 0.2 for U-Nets; pays from about 20 steps</source>
        <translation>Schritt-Cache: das Ergebnis der Blöcke aus dem letzten Schritt wiederverwenden, solange sich der erste um weniger als diesen Wert ändert, etwa 0.1; auto ist 0.1 bei Transformern und 0.2 bei U-Nets; lohnt sich ab etwa 20 Schritten</translation>
    </message>
    <message>
        <source>the sampling method</source>
        <translation>das Sampling-Verfahren</translation>
    </message>
    <message>
        <source>token reduction: less attention at high resolutions; todo keeps a quarter of the keys and values, merge joins the most similar half of the tokens; changes details</source>
        <translation>Token-Reduktion: weniger Attention bei hohen Auflösungen; todo behält ein Viertel der Keys und Values, merge fasst die ähnlichste Hälfte der Token zusammen; verändert Details</translation>
    </message>
    <message>
        <source>true CFG: the CFG scale of models whose guidance is distilled, such as FLUX.1 dev, beside that guidance; above 1 the negative prompt counts, and each step takes twice the time</source>
        <translation>Echtes CFG: die CFG-Skala von Modellen mit destillierter Führung, wie FLUX.1 dev, neben dieser Führung; über 1 zählt der negative Prompt, und jeder Schritt dauert doppelt so lang</translation>
    </message>
    <message>
        <source>use the text encoder&apos;s output this many layers earlier</source>
        <translation>die Ausgabe des Text-Encoders so viele Schichten früher verwenden</translation>
    </message>
</context>
<context>
    <name>OutputFolders</name>
    <message>
        <source>{folder} is not an absolute path: enter a full path, starting at the root or drive letter.</source>
        <translation>{folder} ist kein absoluter Pfad: einen vollständigen Pfad eingeben, der mit dem Wurzelverzeichnis oder Laufwerksbuchstaben beginnt.</translation>
    </message>
</context>
<context>
    <name>PageActions</name>
    <message numerus="yes">
        <source>%n stars</source>
        <translation>
            <numerusform>%n Stern</numerusform>
            <numerusform>%n Sterne</numerusform>
        </translation>
    </message>
    <message>
        <source>Boards…</source>
        <translation>Boards…</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation>Als Befehl kopieren</translation>
    </message>
    <message>
        <source>Copy image</source>
        <translation>Bild kopieren</translation>
    </message>
    <message>
        <source>Copy prompt</source>
        <translation>Prompt kopieren</translation>
    </message>
    <message>
        <source>Copy settings</source>
        <translation>Einstellungen kopieren</translation>
    </message>
    <message>
        <source>Edit this image</source>
        <translation>Dieses Bild bearbeiten</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Vollbild</translation>
    </message>
    <message>
        <source>Load settings</source>
        <translation>Einstellungen laden</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>In den Papierkorb</translation>
    </message>
    <message>
        <source>No stars</source>
        <translation>Keine Sterne</translation>
    </message>
    <message>
        <source>Open in canvas</source>
        <translation>In der Leinwand öffnen</translation>
    </message>
    <message>
        <source>Remix</source>
        <translation>Remix</translation>
    </message>
    <message>
        <source>Remove background</source>
        <translation>Hintergrund entfernen</translation>
    </message>
    <message>
        <source>Same seed, other model…</source>
        <translation>Gleicher Seed, anderes Modell…</translation>
    </message>
    <message>
        <source>Save as style…</source>
        <translation>Als Stil speichern…</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Im Ordner anzeigen</translation>
    </message>
    <message>
        <source>Sort by similarity</source>
        <translation>Nach Ähnlichkeit sortieren</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>Sterne</translation>
    </message>
    <message>
        <source>Tags…</source>
        <translation>Tags…</translation>
    </message>
    <message>
        <source>Toggle star</source>
        <translation>Stern an/aus</translation>
    </message>
    <message>
        <source>Upscale</source>
        <translation>Hochskalieren</translation>
    </message>
    <message>
        <source>Use as init image</source>
        <translation>Als Ausgangsbild verwenden</translation>
    </message>
    <message>
        <source>Variations</source>
        <translation>Variationen</translation>
    </message>
</context>
<context>
    <name>PartFilesForm</name>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Automatic: {file}</source>
        <translation>Automatisch: {file}</translation>
    </message>
    <message>
        <source>File of {component}</source>
        <translation>Datei für {component}</translation>
    </message>
    <message>
        <source>The file that this component is read from</source>
        <translation>Die Datei, aus der diese Komponente gelesen wird</translation>
    </message>
</context>
<context>
    <name>PathRow</name>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
</context>
<context>
    <name>PausedNotice</name>
    <message>
        <source>Queue is paused</source>
        <translation>Warteschlange ist pausiert</translation>
    </message>
    <message>
        <source>Queue is paused: {why}</source>
        <translation>Warteschlange ist pausiert: {why}</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Resume the queue</source>
        <translation>Mit der Warteschlange weitermachen</translation>
    </message>
</context>
<context>
    <name>PictureMaker</name>
    <message>
        <source>Choose a model on the Create page first.</source>
        <translation>Zuerst auf der Seite „Erstellen“ ein Modell wählen.</translation>
    </message>
    <message>
        <source>Thumbnail of {name}</source>
        <translation>Vorschaubild von {name}</translation>
    </message>
</context>
<context>
    <name>Plan</name>
    <message>
        <source>4-bit weights</source>
        <translation>4-Bit-Gewichte</translation>
    </message>
    <message>
        <source>8-bit weights</source>
        <translation>8-Bit-Gewichte</translation>
    </message>
    <message>
        <source>Does not fit: needs {ram} of RAM, of {have_ram}</source>
        <translation>Passt nicht: braucht {ram} RAM von {have_ram}</translation>
    </message>
    <message>
        <source>Does not fit: needs {vram} of VRAM and {ram} of RAM, of {have} and {have_ram}</source>
        <translation>Passt nicht: braucht {vram} VRAM und {ram} RAM von {have} und {have_ram}</translation>
    </message>
    <message>
        <source>Needs {need} of {have} VRAM</source>
        <translation>Braucht {need} von {have} VRAM</translation>
    </message>
    <message>
        <source>Needs {need} of {have} of memory</source>
        <translation>Braucht {need} von {have} Speicher</translation>
    </message>
    <message>
        <source>Not enough free memory: needs {need}. Close other programs</source>
        <translation>Zu wenig freier Speicher: braucht {need}. Andere Programme schließen</translation>
    </message>
    <message>
        <source>driver and reserve</source>
        <translation>Treiber und Reserve</translation>
    </message>
    <message>
        <source>faster with {ram} GB of RAM</source>
        <translation>schneller mit {ram} GB RAM</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>guidance in two passes</source>
        <translation>Guidance in zwei Durchgängen</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>quantized text encoders</source>
        <translation>quantisierte Text-Encoder</translation>
    </message>
    <message>
        <source>read from disk</source>
        <translation>von der Festplatte gelesen</translation>
    </message>
    <message>
        <source>tiled decoding</source>
        <translation>Dekodieren in Kacheln</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>weights streamed</source>
        <translation>Gewichte gestreamt</translation>
    </message>
    <message>
        <source>working memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>{line}. A smaller size needs less</source>
        <translation>{line}. Eine kleinere Größe braucht weniger</translation>
    </message>
    <message>
        <source>{line}. A smaller size, or the memory setting Lowest, needs less</source>
        <translation>{line}. Eine kleinere Größe oder die Speichereinstellung „Minimal“ braucht weniger</translation>
    </message>
    <message>
        <source>{time} if everything fit in VRAM</source>
        <translation>{time}, wenn alles ins VRAM passen würde</translation>
    </message>
</context>
<context>
    <name>Preflight</name>
    <message>
        <source>Planning memory…</source>
        <translation>Speicher wird geplant…</translation>
    </message>
    <message>
        <source>The engine is not running; images wait in the queue.</source>
        <translation>Die Engine läuft nicht; Bilder warten in der Warteschlange.</translation>
    </message>
    <message>
        <source>The engine is starting; the memory plan follows.</source>
        <translation>Die Engine startet; der Speicherplan folgt.</translation>
    </message>
</context>
<context>
    <name>Preview</name>
    <message>
        <source>Cancelled.</source>
        <translation>Abgebrochen.</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>Wird abgebrochen…</translation>
    </message>
    <message>
        <source>{words}, {left}</source>
        <translation>{words}, {left}</translation>
    </message>
</context>
<context>
    <name>ProcessExit</name>
    <message>
        <source>signal {number}</source>
        <translation>Signal {number}</translation>
    </message>
    <message>
        <source>the system gave no reason</source>
        <translation>das System nannte keinen Grund</translation>
    </message>
    <message>
        <source>{name} could not be started: {detail}. Reinstall Mezzotint.</source>
        <translation>{name} konnte nicht gestartet werden: {detail}. Mezzotint neu installieren.</translation>
    </message>
    <message>
        <source>{name} could not read an open file. Check whether a model was moved or a drive was disconnected.</source>
        <translation>{name} konnte eine geöffnete Datei nicht lesen. Prüfen, ob ein Modell verschoben oder ein Laufwerk getrennt wurde.</translation>
    </message>
    <message>
        <source>{name} crashed ({code}).</source>
        <translation>{name} ist abgestürzt ({code}).</translation>
    </message>
    <message>
        <source>{name} exited with code {code}.</source>
        <translation>{name} endete mit Code {code}.</translation>
    </message>
    <message>
        <source>{name} is missing a part of its installation: {line}. Reinstall Mezzotint.</source>
        <translation>Ein Teil der Installation fehlt ({name}): {line}. Mezzotint neu installieren.</translation>
    </message>
    <message>
        <source>{name} lost the GPU: the graphics driver failed.</source>
        <translation>{name} hat die GPU verloren: Der Grafiktreiber ist ausgefallen.</translation>
    </message>
    <message>
        <source>{name} ran out of memory: {needed} GB needed, {free} GB free.</source>
        <translation>{name} hatte zu wenig Speicher: {needed} GB benötigt, {free} GB frei.</translation>
    </message>
    <message>
        <source>{name} sent an invalid response and was terminated: {detail}</source>
        <translation>{name} sendete eine ungültige Antwort und wurde beendet: {detail}</translation>
    </message>
    <message>
        <source>{name} stopped responding and was terminated: {detail}</source>
        <translation>{name} reagierte nicht mehr und wurde beendet: {detail}</translation>
    </message>
    <message>
        <source>{name} used an instruction that this processor does not support.</source>
        <translation>{name} verwendete einen Befehl, den dieser Prozessor nicht unterstützt.</translation>
    </message>
    <message>
        <source>{name} was stopped.</source>
        <translation>{name} wurde gestoppt.</translation>
    </message>
    <message>
        <source>{name} was terminated by another program.</source>
        <translation>{name} wurde von einem anderen Programm beendet.</translation>
    </message>
    <message>
        <source>{name} was terminated by the system, most likely because it ran out of memory.</source>
        <translation>{name} wurde vom System beendet, wahrscheinlich aus Speichermangel.</translation>
    </message>
</context>
<context>
    <name>Program</name>
    <message>
        <source>A batch</source>
        <translation>Ein Batch</translation>
    </message>
    <message>
        <source>The engine</source>
        <translation>Die Engine</translation>
    </message>
    <message>
        <source>The library service</source>
        <translation>Der Bibliotheksdienst</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>Training</translation>
    </message>
    <message>
        <source>a batch was started</source>
        <translation>ein Batch wurde gestartet</translation>
    </message>
    <message>
        <source>training was started</source>
        <translation>ein Training wurde gestartet</translation>
    </message>
</context>
<context>
    <name>PromptTokens</name>
    <message>
        <source>This model ignores prompt weights such as (word:1.2).</source>
        <translation>Dieses Modell beachtet keine Prompt-Gewichte wie (word:1.2).</translation>
    </message>
    <message>
        <source>Tokens could not be counted</source>
        <translation>Tokens konnten nicht gezählt werden</translation>
    </message>
    <message>
        <source>{counted}: read in {parts} parts</source>
        <translation>{counted}: in {parts} Teilen gelesen</translation>
    </message>
    <message>
        <source>{counted}: truncated after {limit}</source>
        <translation>{counted}: nach {limit} abgeschnitten</translation>
    </message>
    <message>
        <source>{count} characters: the limit is {most}</source>
        <translation>{count} Zeichen: höchstens {most}</translation>
    </message>
    <message>
        <source>{parts} of {limit} tokens each</source>
        <translation>{parts} von je {limit} Token</translation>
    </message>
    <message>
        <source>{tokens} of {limit} tokens</source>
        <translation>{tokens} von {limit} Tokens</translation>
    </message>
</context>
<context>
    <name>Prompts</name>
    <message>
        <source>The text has {count} characters; the limit is {most}. It was not used.</source>
        <translation>Der Text hat {count} Zeichen, höchstens {most} sind möglich. Er wurde nicht übernommen.</translation>
    </message>
</context>
<context>
    <name>QuantizeDialog</name>
    <message>
        <source> GB</source>
        <translation> GB</translation>
    </message>
    <message>
        <source>4 bits (int4)</source>
        <translation>4 Bit (int4)</translation>
    </message>
    <message>
        <source>4 bits with a codebook (int4-codebook)</source>
        <translation>4 Bit mit Codebuch (int4-codebook)</translation>
    </message>
    <message>
        <source>4 bits with low-rank correction (int4-lowrank)</source>
        <translation>4 Bit mit Low-Rank-Korrektur (int4-lowrank)</translation>
    </message>
    <message>
        <source>4 bits, inputs too (int4-rot)</source>
        <translation>4 Bit, auch die Eingaben (int4-rot)</translation>
    </message>
    <message>
        <source>4 bits, inputs too, with low-rank correction (svdquant)</source>
        <translation>4 Bit, auch die Eingaben, mit Low-Rank-Korrektur (svdquant)</translation>
    </message>
    <message>
        <source>4-bit floats (nvfp4)</source>
        <translation>4-Bit-Gleitkomma (nvfp4)</translation>
    </message>
    <message>
        <source>8 bits (int8)</source>
        <translation>8 Bit (int8)</translation>
    </message>
    <message>
        <source>8 bits, weights only (int8-weight)</source>
        <translation>8 Bit, nur Gewichte (int8-weight)</translation>
    </message>
    <message>
        <source>8-bit floats (fp8)</source>
        <translation>8-Bit-Gleitkomma (fp8)</translation>
    </message>
    <message>
        <source>8-bit inputs of convolutions, too</source>
        <translation>Auch Eingaben der Faltungen in 8 Bit</translation>
    </message>
    <message>
        <source>A quarter of the size, meant for speed on RTX 20 to 40; visibly different images.</source>
        <translation>Ein Viertel der Größe, für Tempo auf RTX 20 bis 40 gedacht; sichtbar andere Bilder.</translation>
    </message>
    <message>
        <source>About a third of the size, close to the original. Takes several minutes to make.</source>
        <translation>Etwa ein Drittel der Größe, nah am Original. Das Erstellen dauert mehrere Minuten.</translation>
    </message>
    <message>
        <source>About half the size, hard to tell apart, and the fastest on most cards.</source>
        <translation>Etwa halbe Größe, kaum zu unterscheiden und auf den meisten Karten am schnellsten.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close without quantizing</source>
        <translation>Schließen, ohne zu quantisieren</translation>
    </message>
    <message>
        <source>Each layer gets what loses least, so that the model stays on a card with this much memory. A few images are made to measure that.</source>
        <translation>Jede Schicht bekommt, was am wenigsten verliert, sodass das Modell auf einer Karte mit so viel Speicher bleibt. Dafür entstehen einige Bilder zum Messen.</translation>
    </message>
    <message>
        <source>Half the size, computed in 16 bits: for cards without fast 8-bit matrix multiplication.</source>
        <translation>Halbe Größe, in 16 Bit berechnet: für Karten ohne schnelle 8-Bit-Matrixmultiplikation.</translation>
    </message>
    <message>
        <source>Half the size, multiplied as such on RTX 40 and 50; int8 is closer to the original.</source>
        <translation>Halb so groß, auf RTX 40 und 50 so multipliziert; int8 ist näher am Original.</translation>
    </message>
    <message>
        <source>Memory of the card</source>
        <translation>Speicher der Karte</translation>
    </message>
    <message>
        <source>Memory of the card: </source>
        <translation>Speicher der Karte: </translation>
    </message>
    <message>
        <source>Memory of the graphics card that is to hold the model</source>
        <translation>Speicher der Grafikkarte, auf die das Modell passen soll</translation>
    </message>
    <message>
        <source>Mixed, to fit a GPU (auto)</source>
        <translation>Gemischt, passend für eine Karte (auto)</translation>
    </message>
    <message>
        <source>Quantize</source>
        <translation>Quantisieren</translation>
    </message>
    <message>
        <source>Quantize model</source>
        <translation>Modell quantisieren</translation>
    </message>
    <message>
        <source>Starts in the background</source>
        <translation>Startet im Hintergrund</translation>
    </message>
    <message>
        <source>The model takes {size}. The copy goes into your model folder; this one is kept.</source>
        <translation>Das Modell belegt {size}. Die Kopie kommt in den eigenen Modellordner; dieses bleibt erhalten.</translation>
    </message>
    <message>
        <source>The smallest: under a third of the size, with small differences in details.</source>
        <translation>Am kleinsten: unter einem Drittel der Größe, mit kleinen Unterschieden in Details.</translation>
    </message>
    <message>
        <source>Under a third of the size, closer to the original than int4; ComfyUI reads it too.</source>
        <translation>Unter einem Drittel der Größe, näher am Original als int4; auch ComfyUI liest es.</translation>
    </message>
    <message>
        <source>Under a third of the size, meant for speed on RTX 30 and 40; closer to the original.</source>
        <translation>Unter einem Drittel der Größe, für Tempo auf RTX 30 und 40 gedacht; näher am Original.</translation>
    </message>
    <message>
        <source>Under a third of the size, meant for speed on RTX 50; ComfyUI reads it too.</source>
        <translation>Unter einem Drittel der Größe, für Tempo auf RTX 50 gedacht; auch ComfyUI liest es.</translation>
    </message>
    <message>
        <source>With int8: faster on NVIDIA cards, a little less close to the original</source>
        <translation>Mit int8: schneller auf NVIDIA-Karten, etwas weniger nah am Original</translation>
    </message>
</context>
<context>
    <name>QueueAccess</name>
    <message>
        <source>{0}. Nothing is lost; it is retried automatically.</source>
        <translation>{0}. Nichts geht verloren; es wird automatisch erneut versucht.</translation>
    </message>
</context>
<context>
    <name>QueueActions</name>
    <message>
        <source>Added to the end: {0}</source>
        <translation>Ans Ende gestellt: {0}</translation>
    </message>
    <message>
        <source>Cancelled: {0}</source>
        <translation>Abgebrochen: {0}</translation>
    </message>
    <message>
        <source>Moved to front: {0}</source>
        <translation>An den Anfang verschoben: {0}</translation>
    </message>
    <message>
        <source>Queued again: {0}</source>
        <translation>Erneut eingereiht: {0}</translation>
    </message>
    <message>
        <source>Removed from the list: {entries}; images are kept</source>
        <translation>Aus der Liste entfernt: {entries}; Bilder bleiben erhalten</translation>
    </message>
    <message>
        <source>Removed: {0}</source>
        <translation>Entfernt: {0}</translation>
    </message>
    <message>
        <source>The running job is being stopped; remove it again when it has stopped</source>
        <translation>Der laufende Auftrag wird gestoppt; danach erneut entfernen</translation>
    </message>
    <message>
        <source>This job has no images yet, so there is no folder to open</source>
        <translation>Dieser Auftrag hat noch keine Bilder, also gibt es keinen Ordner zu öffnen</translation>
    </message>
</context>
<context>
    <name>QueueCounts</name>
    <message numerus="yes">
        <source>%Ln images</source>
        <translation>
            <numerusform>%Ln Bild</numerusform>
            <numerusform>%Ln Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln jobs</source>
        <translation>
            <numerusform>%Ln Auftrag</numerusform>
            <numerusform>%Ln Aufträge</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Failed so far: %n of {tasks}</source>
        <translation>
            <numerusform>Bisher fehlgeschlagen: %n von {tasks}</numerusform>
            <numerusform>Bisher fehlgeschlagen: %n von {tasks}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Failed so far: %n of {tasks}: {error}</source>
        <translation>
            <numerusform>Bisher fehlgeschlagen: %n von {tasks}: {error}</numerusform>
            <numerusform>Bisher fehlgeschlagen: %n von {tasks}: {error}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QueueDetailsPane</name>
    <message>
        <source>Each task is one request to the engine, with its own seed and result</source>
        <translation>Jede Aufgabe ist eine Anfrage an die Engine, mit eigenem Seed und Ergebnis</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Images of this job</source>
        <translation>Bilder dieses Auftrags</translation>
    </message>
    <message>
        <source>No prompt</source>
        <translation>Kein Prompt</translation>
    </message>
    <message>
        <source>Press Enter or double-click to view an image full screen</source>
        <translation>Enter oder Doppelklick zeigt ein Bild im Vollbild</translation>
    </message>
    <message>
        <source>Tasks</source>
        <translation>Aufgaben</translation>
    </message>
    <message>
        <source>Tasks of this job</source>
        <translation>Aufgaben dieses Auftrags</translation>
    </message>
</context>
<context>
    <name>QueueInterrupted</name>
    <message>
        <source>Mezzotint stopped while it was generating: {images} still missing. Finished images are kept.</source>
        <translation>Mezzotint wurde beim Generieren gestoppt; noch fehlend: {images}. Fertige Bilder bleiben erhalten.</translation>
    </message>
</context>
<context>
    <name>QueueModel</name>
    <message>
        <source>Loading</source>
        <translation>Lädt</translation>
    </message>
    <message>
        <source>The order was not changed: {0}</source>
        <translation>Die Reihenfolge wurde nicht geändert: {0}</translation>
    </message>
</context>
<context>
    <name>QueuePage</name>
    <message>
        <source>Active and failed</source>
        <translation>Aktive und fehlgeschlagene</translation>
    </message>
    <message>
        <source>Add the selected jobs again, with new random seeds where none was locked</source>
        <translation>Die ausgewählten Aufträge erneut hinzufügen, mit neuen zufälligen Seeds, wo keiner gesperrt war</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancel the interrupted jobs; finished images are kept</source>
        <translation>Die unterbrochenen Aufträge abbrechen; fertige Bilder bleiben erhalten</translation>
    </message>
    <message>
        <source>Cancel these jobs; finished images are kept</source>
        <translation>Diese Aufträge abbrechen; fertige Bilder bleiben erhalten</translation>
    </message>
    <message>
        <source>Clear finished</source>
        <translation>Fertige entfernen</translation>
    </message>
    <message>
        <source>Continue where it stopped, then with the rest of the queue</source>
        <translation>Dort weitermachen, wo gestoppt wurde, dann mit dem Rest der Warteschlange</translation>
    </message>
    <message>
        <source>Create images</source>
        <translation>Bilder erstellen</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>Duplizieren</translation>
    </message>
    <message>
        <source>Finish all images of the running task, then pause the queue</source>
        <translation>Alle Bilder der laufenden Aufgabe fertigstellen, dann die Warteschlange pausieren</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>Fertige</translation>
    </message>
    <message>
        <source>Generate the missing images of the selected jobs</source>
        <translation>Die fehlenden Bilder der ausgewählten Aufträge generieren</translation>
    </message>
    <message>
        <source>Jobs from the Create page wait here and run one after another, even after Mezzotint was closed or the computer was restarted.</source>
        <translation>Aufträge von der Seite „Erstellen“ warten hier und laufen nacheinander, auch nachdem Mezzotint geschlossen oder der Computer neu gestartet wurde.</translation>
    </message>
    <message>
        <source>Jobs in the queue</source>
        <translation>Aufträge in der Warteschlange</translation>
    </message>
    <message>
        <source>Jobs to show</source>
        <translation>Anzuzeigende Aufträge</translation>
    </message>
    <message>
        <source>Keep paused</source>
        <translation>Pausiert lassen</translation>
    </message>
    <message>
        <source>Load settings</source>
        <translation>Einstellungen laden</translation>
    </message>
    <message>
        <source>Load the settings of this job on the Create page</source>
        <translation>Die Einstellungen dieses Auftrags auf der Seite „Erstellen“ laden</translation>
    </message>
    <message>
        <source>Move down</source>
        <translation>Nach unten</translation>
    </message>
    <message>
        <source>Move the selected jobs down by one</source>
        <translation>Die ausgewählten Aufträge um eins nach unten verschieben</translation>
    </message>
    <message>
        <source>Move the selected jobs to the front</source>
        <translation>Die ausgewählten Aufträge an den Anfang verschieben</translation>
    </message>
    <message>
        <source>Move the selected jobs up by one</source>
        <translation>Die ausgewählten Aufträge um eins nach oben verschieben</translation>
    </message>
    <message>
        <source>Move to front</source>
        <translation>An den Anfang</translation>
    </message>
    <message>
        <source>Move up</source>
        <translation>Nach oben</translation>
    </message>
    <message>
        <source>No finished jobs yet</source>
        <translation>Noch keine fertigen Aufträge</translation>
    </message>
    <message>
        <source>Not finished yet: {0}. Missing images will not be generated; finished images are kept.</source>
        <translation>Noch nicht fertig: {0}. Fehlende Bilder werden nicht generiert; fertige Bilder bleiben erhalten.</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Open the Create page (Ctrl+1)</source>
        <translation>Seite „Erstellen“ öffnen (Strg+1)</translation>
    </message>
    <message>
        <source>Open the folder with this job&apos;s images</source>
        <translation>Den Ordner mit den Bildern dieses Auftrags öffnen</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausieren</translation>
    </message>
    <message>
        <source>Queue empty</source>
        <translation>Warteschlange leer</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove finished and cancelled jobs from the list; images are kept</source>
        <translation>Fertige und abgebrochene Aufträge aus der Liste entfernen; Bilder bleiben erhalten</translation>
    </message>
    <message>
        <source>Remove from queue</source>
        <translation>Aus der Warteschlange entfernen</translation>
    </message>
    <message>
        <source>Remove the selected jobs from the queue; images are kept</source>
        <translation>Die ausgewählten Aufträge aus der Warteschlange entfernen; Bilder bleiben erhalten</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Resume the queue</source>
        <translation>Warteschlange fortsetzen</translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Start nothing; the jobs stay in the list, and Retry resumes them</source>
        <translation>Nichts starten; die Aufträge bleiben in der Liste, und „Wiederholen“ setzt sie fort</translation>
    </message>
    <message>
        <source>Stop after current</source>
        <translation>Nach aktuellem stoppen</translation>
    </message>
    <message>
        <source>Stop immediately and free the device; the current image starts over after Resume</source>
        <translation>Sofort stoppen und das Gerät freigeben; das aktuelle Bild beginnt nach „Fortsetzen“ von vorn</translation>
    </message>
</context>
<context>
    <name>QueueProgress</name>
    <message>
        <source>Analyzing new model: {percent} %</source>
        <translation>Neues Modell wird analysiert: {percent} %</translation>
    </message>
    <message>
        <source>Decoding image {image} of {images}</source>
        <translation>Bild {image} von {images} wird dekodiert</translation>
    </message>
    <message>
        <source>Encoding the prompt</source>
        <translation>Prompt wird kodiert</translation>
    </message>
    <message>
        <source>Image {image} of {images}, stage {stage} of {stages}: step {step} of {steps}</source>
        <translation>Bild {image} von {images}, Stufe {stage} von {stages}: Schritt {step} von {steps}</translation>
    </message>
    <message>
        <source>Image {image} of {images}: step {step} of {steps}</source>
        <translation>Bild {image} von {images}: Schritt {step} von {steps}</translation>
    </message>
    <message>
        <source>Loading {model}: {amount}</source>
        <translation>Lädt {model}: {amount}</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>{done} of {images} images saved</source>
        <translation>{done} von {images} Bildern gespeichert</translation>
    </message>
</context>
<context>
    <name>QueueRunner</name>
    <message>
        <source>A task crashed the engine twice and is skipped; the others continue.</source>
        <translation>Eine Aufgabe hat die Engine zweimal zum Absturz gebracht und wird übersprungen; die anderen laufen weiter.</translation>
    </message>
    <message>
        <source>The queue is paused: {reason}</source>
        <translation>Die Warteschlange ist pausiert: {reason}</translation>
    </message>
    <message>
        <source>a batch was started</source>
        <translation>ein Batch wurde gestartet</translation>
    </message>
    <message>
        <source>the window was closed</source>
        <translation>das Fenster wurde geschlossen</translation>
    </message>
</context>
<context>
    <name>QueueSummary</name>
    <message>
        <source>Blocked: {why}</source>
        <translation>Blockiert: {why}</translation>
    </message>
    <message>
        <source>Paused: {why}; {entries}</source>
        <translation>Pausiert: {why}; {entries}</translation>
    </message>
    <message>
        <source>Paused; {entries}</source>
        <translation>Pausiert; {entries}</translation>
    </message>
    <message>
        <source>Queue empty</source>
        <translation>Warteschlange leer</translation>
    </message>
    <message>
        <source>Queue empty; {entries}</source>
        <translation>Warteschlange leer; {entries}</translation>
    </message>
    <message>
        <source>another program</source>
        <translation>ein anderes Programm</translation>
    </message>
    <message>
        <source>then {entries}</source>
        <translation>danach {entries}</translation>
    </message>
    <message>
        <source>{line}. Pauses after this job</source>
        <translation>{line}. Pausiert nach diesem Auftrag</translation>
    </message>
    <message>
        <source>{line}. Pausing</source>
        <translation>{line}. Wird pausiert</translation>
    </message>
    <message>
        <source>{more}, {time} in total</source>
        <translation>{more}, insgesamt {time}</translation>
    </message>
    <message>
        <source>{who} is processing this queue</source>
        <translation>{who} arbeitet diese Warteschlange ab</translation>
    </message>
    <message>
        <source>{who} is running; the queue continues after it</source>
        <translation>{who} läuft; danach geht die Warteschlange weiter</translation>
    </message>
</context>
<context>
    <name>QueueWords</name>
    <message>
        <source>Cancelled</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>Default model</source>
        <translation>Standardmodell</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>Unterbrochen</translation>
    </message>
    <message>
        <source>It was cancelled. Retry generates the missing images.</source>
        <translation>Er wurde abgebrochen. „Wiederholen“ generiert die fehlenden Bilder.</translation>
    </message>
    <message>
        <source>Last attempt: {error}</source>
        <translation>Letzter Versuch: {error}</translation>
    </message>
    <message>
        <source>Mezzotint stopped while this was being generated. Finished images are kept. Retry generates the rest.</source>
        <translation>Mezzotint wurde beim Generieren gestoppt. Fertige Bilder bleiben erhalten. „Wiederholen“ generiert den Rest.</translation>
    </message>
    <message>
        <source>No prompt</source>
        <translation>Kein Prompt</translation>
    </message>
    <message>
        <source>Retry generates the missing images; Load settings opens the settings on the Create page.</source>
        <translation>„Wiederholen“ generiert die fehlenden Bilder; „Einstellungen laden“ öffnet die Einstellungen auf der Seite „Erstellen“.</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>Läuft</translation>
    </message>
    <message>
        <source>Seed {seed}</source>
        <translation>Seed {seed}</translation>
    </message>
    <message>
        <source>Skipped after crashes</source>
        <translation>Nach Abstürzen übersprungen</translation>
    </message>
    <message>
        <source>The engine crashed; its log may say why. Retry starts over.</source>
        <translation>Die Engine ist abgestürzt; der Grund steht vielleicht in ihrem Protokoll. „Wiederholen“ beginnt von vorn.</translation>
    </message>
    <message>
        <source>Try a smaller size or another memory setting with Load settings, or Retry without changes.</source>
        <translation>Über „Einstellungen laden“ eine kleinere Größe oder andere Speichereinstellung probieren oder unverändert „Wiederholen“.</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>takes {time}</source>
        <translation>dauert {time}</translation>
    </message>
    <message>
        <source>{done} of {images}</source>
        <translation>{done}/{images}</translation>
    </message>
</context>
<context>
    <name>QuitDialog</name>
    <message>
        <source>A batch is running.</source>
        <translation>Ein Batch läuft.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Continue in background</source>
        <translation>Im Hintergrund fortsetzen</translation>
    </message>
    <message>
        <source>Finished images are kept; the rest waits in the queue</source>
        <translation>Fertige Bilder bleiben erhalten; der Rest wartet in der Warteschlange</translation>
    </message>
    <message>
        <source>Images are generated without a window; start Mezzotint again to see them</source>
        <translation>Bilder werden ohne Fenster generiert; Mezzotint erneut starten, um sie zu sehen</translation>
    </message>
    <message>
        <source>It stops after the current image, or immediately if that takes long. Nothing is lost: you can resume it from the list on the Batch page.</source>
        <translation>Er stoppt nach dem aktuellen Bild oder sofort, wenn das lange dauert. Nichts geht verloren: Er kann in der Liste auf der Seite „Batch“ fortgesetzt werden.</translation>
    </message>
    <message>
        <source>Keep the window open</source>
        <translation>Das Fenster offen lassen</translation>
    </message>
    <message>
        <source>Mezzotint can continue to generate images in the background; they appear in the gallery. If you quit and pause, you can resume the rest when you start it again.</source>
        <translation>Mezzotint kann im Hintergrund weiter Bilder generieren; sie erscheinen in der Galerie. Nach „Beenden und pausieren“ kann der Rest beim nächsten Start fortgesetzt werden.</translation>
    </message>
    <message>
        <source>Quit Mezzotint?</source>
        <translation>Mezzotint beenden?</translation>
    </message>
    <message>
        <source>Quit after this image</source>
        <translation>Nach diesem Bild beenden</translation>
    </message>
    <message>
        <source>Quit and pause</source>
        <translation>Beenden und pausieren</translation>
    </message>
    <message>
        <source>Resume on the Batch page generates the rest; nothing is generated twice</source>
        <translation>„Fortsetzen“ auf der Seite „Batch“ generiert den Rest; nichts wird doppelt generiert</translation>
    </message>
    <message>
        <source>The queue is not empty.</source>
        <translation>Die Warteschlange ist nicht leer.</translation>
    </message>
</context>
<context>
    <name>ReferencesModel</name>
    <message>
        <source>There is no image on the clipboard.</source>
        <translation>In der Zwischenablage ist kein Bild.</translation>
    </message>
    <message>
        <source>{count} reference images are too many: only the first {most} are used.</source>
        <translation>{count} Referenzbilder sind zu viele: nur die ersten {most} werden verwendet.</translation>
    </message>
</context>
<context>
    <name>ReferencesPanel</name>
    <message>
        <source>Add images…</source>
        <translation>Bilder hinzufügen…</translation>
    </message>
    <message>
        <source>Add reference images</source>
        <translation>Referenzbilder hinzufügen</translation>
    </message>
    <message>
        <source>Choose image files, or drop them here</source>
        <translation>Bilddateien wählen oder hier ablegen</translation>
    </message>
    <message>
        <source>Choose reference images</source>
        <translation>Referenzbilder wählen</translation>
    </message>
    <message>
        <source>Drag to reorder: prompts name them by their order, as image 1, image 2</source>
        <translation>Zum Umordnen ziehen: Prompts nennen sie nach ihrer Reihenfolge, als image 1, image 2</translation>
    </message>
    <message>
        <source>Drop reference images here</source>
        <translation>Referenzbilder hier ablegen</translation>
    </message>
    <message>
        <source>List of reference images</source>
        <translation>Liste der Referenzbilder</translation>
    </message>
    <message>
        <source>Move down (Alt+Down)</source>
        <translation>Nach unten (Alt+Ab)</translation>
    </message>
    <message>
        <source>Move up (Alt+Up)</source>
        <translation>Nach oben (Alt+Auf)</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <source>Paste a reference image</source>
        <translation>Ein Referenzbild einfügen</translation>
    </message>
    <message>
        <source>Reference images</source>
        <translation>Referenzbilder</translation>
    </message>
    <message>
        <source>Remove (Delete)</source>
        <translation>Entfernen (Entf)</translation>
    </message>
    <message>
        <source>That is a web address, not a file: save the image first, then drop the file.</source>
        <translation>Das ist eine Webadresse, keine Datei: das Bild zuerst speichern, dann die Datei ablegen.</translation>
    </message>
    <message>
        <source>There is no image on the clipboard.</source>
        <translation>In der Zwischenablage ist kein Bild.</translation>
    </message>
    <message>
        <source>Use the image on the clipboard (Ctrl+V)</source>
        <translation>Bild aus der Zwischenablage verwenden (Strg+V)</translation>
    </message>
    <message>
        <source>{name}: cannot be used</source>
        <translation>{name}: nicht verwendbar</translation>
    </message>
</context>
<context>
    <name>RefinerHiresBox</name>
    <message>
        <source>A conditional refiner, which generates the finished image anew at twice the size</source>
        <translation>Ein bedingter Refiner, der das fertige Bild in doppelter Größe neu erzeugt</translation>
    </message>
    <message>
        <source>A model for the last part of the schedule</source>
        <translation>Ein Modell für den letzten Teil des Schedules</translation>
    </message>
    <message>
        <source>Bicubic</source>
        <translation>Bikubisch</translation>
    </message>
    <message>
        <source>Bicubic suits most images; an upscaler adds sharp edges</source>
        <translation>Bikubisch passt für die meisten Bilder; ein Upscaler macht Kanten schärfer</translation>
    </message>
    <message>
        <source>Bilinear</source>
        <translation>Bilinear</translation>
    </message>
    <message>
        <source>Condition noise</source>
        <translation>Rauschen der Vorlage</translation>
    </message>
    <message>
        <source>Denoising strength</source>
        <translation>Denoising-Stärke</translation>
    </message>
    <message>
        <source>Enlarge the init image by</source>
        <translation>Ausgangsbild vergrößern mit</translation>
    </message>
    <message>
        <source>Enlarges an init image that is smaller than the result, before it is denoised</source>
        <translation>Vergrößert ein Ausgangsbild, das kleiner als das Ergebnis ist, bevor es entrauscht wird</translation>
    </message>
    <message>
        <source>Factor for width and height</source>
        <translation>Faktor für Breite und Höhe</translation>
    </message>
    <message>
        <source>Hires fix (second pass)</source>
        <translation>Hires-Fix (zweiter Durchgang)</translation>
    </message>
    <message>
        <source>Lanczos</source>
        <translation>Lanczos</translation>
    </message>
    <message>
        <source>Lanczos (pixels only)</source>
        <translation>Lanczos (nur Pixel)</translation>
    </message>
    <message>
        <source>Latents</source>
        <translation>Latents</translation>
    </message>
    <message>
        <source>Latents are faster, pixels are cleaner</source>
        <translation>Latents sind schneller, Pixel sauberer</translation>
    </message>
    <message>
        <source>Low sharpens the image; high invents new detail</source>
        <translation>Niedrig schärft das Bild; hoch erfindet neue Details</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>Methode</translation>
    </message>
    <message>
        <source>Nearest</source>
        <translation>Nächster Nachbar</translation>
    </message>
    <message>
        <source>No installed refiner works with this model.</source>
        <translation>Kein installierter Refiner passt zu diesem Modell.</translation>
    </message>
    <message>
        <source>Noise added to the smaller image first: with more, less of it is kept</source>
        <translation>Rauschen, das dem kleineren Bild zuerst hinzugefügt wird: mit mehr bleibt weniger davon erhalten</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keiner</translation>
    </message>
    <message>
        <source>Part of the steps done before the switch: 0.8 leaves the last fifth to the refiner</source>
        <translation>Anteil der Schritte vor dem Wechsel: 0,8 überlässt dem Refiner das letzte Fünftel</translation>
    </message>
    <message>
        <source>Pixels</source>
        <translation>Pixel</translation>
    </message>
    <message>
        <source>Refine with</source>
        <translation>Verfeinern mit</translation>
    </message>
    <message>
        <source>Refiner</source>
        <translation>Refiner</translation>
    </message>
    <message>
        <source>Refiner switch at</source>
        <translation>Wechsel zum Refiner bei</translation>
    </message>
    <message>
        <source>Refining steps</source>
        <translation>Schritte des Verfeinerns</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>Skalierung</translation>
    </message>
    <message>
        <source>Steps of the conditional refiner</source>
        <translation>Schritte des bedingten Refiners</translation>
    </message>
    <message>
        <source>Upscale in</source>
        <translation>Hochskalieren in</translation>
    </message>
    <message>
        <source>Upscale the image and add finer detail</source>
        <translation>Das Bild hochskalieren und feinere Details hinzufügen</translation>
    </message>
    <message>
        <source>Upscaler {name}</source>
        <translation>Upscaler {name}</translation>
    </message>
</context>
<context>
    <name>RegionList</name>
    <message>
        <source>A part of the image that follows a prompt of its own</source>
        <translation>Ein Teil des Bildes, der einem eigenen Prompt folgt</translation>
    </message>
    <message>
        <source>Add region</source>
        <translation>Region hinzufügen</translation>
    </message>
    <message>
        <source>Choose a mask</source>
        <translation>Maske wählen</translation>
    </message>
</context>
<context>
    <name>RegionRow</name>
    <message>
        <source>1: only this prompt; less: the prompt above has the rest</source>
        <translation>1: nur dieser Prompt; weniger: Der Rest gehört dem Prompt oben</translation>
    </message>
    <message>
        <source>Box of region {number}</source>
        <translation>Rechteck der Region {number}</translation>
    </message>
    <message>
        <source>Centre</source>
        <translation>Mitte</translation>
    </message>
    <message>
        <source>Left half</source>
        <translation>Linke Hälfte</translation>
    </message>
    <message>
        <source>Left third</source>
        <translation>Linkes Drittel</translation>
    </message>
    <message>
        <source>Left, top, width and height as parts of the image, 0 to 1</source>
        <translation>Links, oben, Breite und Höhe als Anteile des Bildes, 0 bis 1</translation>
    </message>
    <message>
        <source>Lower half</source>
        <translation>Untere Hälfte</translation>
    </message>
    <message>
        <source>Mask file…</source>
        <translation>Maskendatei …</translation>
    </message>
    <message>
        <source>Mask {name}</source>
        <translation>Maske {name}</translation>
    </message>
    <message>
        <source>Middle third</source>
        <translation>Mittleres Drittel</translation>
    </message>
    <message>
        <source>Other box</source>
        <translation>Anderes Rechteck</translation>
    </message>
    <message>
        <source>Part {number}</source>
        <translation>Teil {number}</translation>
    </message>
    <message>
        <source>Prompt of region {number}</source>
        <translation>Prompt der Region {number}</translation>
    </message>
    <message>
        <source>Remove region {number}</source>
        <translation>Region {number} entfernen</translation>
    </message>
    <message>
        <source>Right half</source>
        <translation>Rechte Hälfte</translation>
    </message>
    <message>
        <source>Right third</source>
        <translation>Rechtes Drittel</translation>
    </message>
    <message>
        <source>Upper half</source>
        <translation>Obere Hälfte</translation>
    </message>
    <message>
        <source>Weight of region {number}</source>
        <translation>Gewicht der Region {number}</translation>
    </message>
    <message>
        <source>What this part shows; the prompt above is for the rest</source>
        <translation>Was dieser Teil zeigt; der Prompt oben gilt für den Rest</translation>
    </message>
    <message>
        <source>Where the prompt applies</source>
        <translation>Wo der Prompt gilt</translation>
    </message>
    <message>
        <source>such as a red house</source>
        <translation>z. B. a red house</translation>
    </message>
</context>
<context>
    <name>RepeatNotice</name>
    <message>
        <source>Random seed</source>
        <translation>Zufälliger Seed</translation>
    </message>
    <message>
        <source>Seed locked and nothing changed: this would generate the same image again.</source>
        <translation>Seed gesperrt und nichts geändert: Das ergibt noch einmal dasselbe Bild.</translation>
    </message>
    <message>
        <source>Unlock the seed: each image gets another one</source>
        <translation>Seed entsperren: jedes Bild bekommt einen anderen</translation>
    </message>
</context>
<context>
    <name>ResultStrip</name>
    <message>
        <source>Recent images</source>
        <translation>Neueste Bilder</translation>
    </message>
    <message>
        <source>Recent images; Enter shows one in full screen</source>
        <translation>Neueste Bilder; Enter zeigt eines im Vollbild</translation>
    </message>
</context>
<context>
    <name>RunsPane</name>
    <message>
        <source>Choose images, and press Start training.</source>
        <translation>Bilder wählen und „Training starten“ drücken.</translation>
    </message>
    <message>
        <source>Continue although the images or captions have changed since the start</source>
        <translation>Fortsetzen, obwohl sich Bilder oder Beschreibungen seit dem Start geändert haben</translation>
    </message>
    <message>
        <source>Continue exactly where it was paused</source>
        <translation>Genau dort fortsetzen, wo pausiert wurde</translation>
    </message>
    <message>
        <source>End training here; the LoRAs saved so far can be used</source>
        <translation>Training hier beenden; die bisher gespeicherten LoRAs sind verwendbar</translation>
    </message>
    <message>
        <source>No training runs yet</source>
        <translation>Noch keine Trainingsläufe</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Open the folder of this run</source>
        <translation>Den Ordner dieses Laufs öffnen</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Resume with changed images</source>
        <translation>Mit geänderten Bildern fortsetzen</translation>
    </message>
    <message>
        <source>Stop after this step and free the GPU; it can be resumed later</source>
        <translation>Nach diesem Schritt anhalten und die GPU freigeben; später fortsetzbar</translation>
    </message>
    <message>
        <source>Stop and keep</source>
        <translation>Beenden und behalten</translation>
    </message>
    <message>
        <source>The run that is shown below</source>
        <translation>Der Lauf, der unten gezeigt wird</translation>
    </message>
    <message>
        <source>Training progress</source>
        <translation>Trainingsfortschritt</translation>
    </message>
    <message>
        <source>Training run</source>
        <translation>Trainingslauf</translation>
    </message>
</context>
<context>
    <name>SampleLabel</name>
    <message>
        <source>Sample: {prompt}</source>
        <translation>Beispiel: {prompt}</translation>
    </message>
</context>
<context>
    <name>SaveStyleDialog</name>
    <message>
        <source>Added to the negative prompt that you write later</source>
        <translation>Wird später an den Negativ-Prompt angehängt</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close without saving</source>
        <translation>Schließen, ohne zu speichern</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativ-Prompt</translation>
    </message>
    <message>
        <source>Overwrites the style that is there</source>
        <translation>Überschreibt den vorhandenen Stil</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Replace the style of that name</source>
        <translation>Den Stil dieses Namens ersetzen</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Save as style</source>
        <translation>Als Stil speichern</translation>
    </message>
    <message>
        <source>Save the style in the settings folder</source>
        <translation>Den Stil im Einstellungsordner speichern</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>The name in the list, and for --style</source>
        <translation>Der Name in der Liste und für --style</translation>
    </message>
    <message>
        <source>Which settings are part of the style</source>
        <translation>Welche Einstellungen zum Stil gehören</translation>
    </message>
    <message>
        <source>{prompt} stands for the prompt that you write later</source>
        <translation>{prompt} steht für den Prompt, der später geschrieben wird</translation>
    </message>
    <message>
        <source>{prompt}, …</source>
        <translation>{prompt}, …</translation>
    </message>
</context>
<context>
    <name>SectionHeading</name>
    <message>
        <source>closed</source>
        <translation>geschlossen</translation>
    </message>
    <message>
        <source>open</source>
        <translation>offen</translation>
    </message>
    <message>
        <source>{name}, {state}</source>
        <translation>{name}, {state}</translation>
    </message>
</context>
<context>
    <name>SeedBox</name>
    <message>
        <source>Lock the seed</source>
        <translation>Seed sperren</translation>
    </message>
    <message>
        <source>Lock the seed of the last image</source>
        <translation>Seed des letzten Bildes sperren</translation>
    </message>
    <message>
        <source>Pick a random seed and lock it</source>
        <translation>Einen zufälligen Seed ziehen und sperren</translation>
    </message>
    <message>
        <source>Random</source>
        <translation>Zufällig</translation>
    </message>
    <message>
        <source>Random seed</source>
        <translation>Zufälliger Seed</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>The same seed and settings generate the same image again. Empty: random</source>
        <translation>Derselbe Seed ergibt mit denselben Einstellungen wieder dasselbe Bild. Leer: zufällig</translation>
    </message>
</context>
<context>
    <name>ServerProcess</name>
    <message>
        <source>Python was not found: reinstall Mezzotint</source>
        <translation>Python wurde nicht gefunden: Mezzotint neu installieren</translation>
    </message>
    <message>
        <source>an unterminated line</source>
        <translation>eine Zeile ohne Zeilenende</translation>
    </message>
    <message>
        <source>invalid output: {line}</source>
        <translation>ungültige Ausgabe: {line}</translation>
    </message>
    <message>
        <source>it did not read a request</source>
        <translation>eine Anfrage wurde nicht gelesen</translation>
    </message>
    <message>
        <source>it stopped before it responded</source>
        <translation>gestoppt vor der Antwort</translation>
    </message>
    <message>
        <source>it was stopped</source>
        <translation>gestoppt</translation>
    </message>
    <message>
        <source>too many responses at once</source>
        <translation>zu viele Antworten auf einmal</translation>
    </message>
</context>
<context>
    <name>SettingsCounts</name>
    <message numerus="yes">
        <source>%n steps</source>
        <translation>
            <numerusform>%n Schritt</numerusform>
            <numerusform>%n Schritte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>LoRAs: %n</source>
        <translation>
            <numerusform>LoRAs: %n</numerusform>
            <numerusform>LoRAs: %n</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>0: no limit</source>
        <translation>0: keine Grenze</translation>
    </message>
    <message>
        <source>A change of language takes effect at the next start.</source>
        <translation>Eine andere Sprache gilt ab dem nächsten Start.</translation>
    </message>
    <message>
        <source>A mirror of the Hugging Face hub; empty: HF_ENDPOINT, or the hub itself</source>
        <translation>Ein Spiegel des Hugging-Face-Hubs; leer: HF_ENDPOINT oder der Hub selbst</translation>
    </message>
    <message>
        <source>A search field where models are downloaded; only what you type there is sent</source>
        <translation>Ein Suchfeld beim Herunterladen von Modellen; nur was dort eingegeben wird, wird gesendet</translation>
    </message>
    <message>
        <source>A small decoder, if one is found</source>
        <translation>Kleiner Decoder, falls einer gefunden wird</translation>
    </message>
    <message>
        <source>A small preview at every step; costs little</source>
        <translation>Eine kleine Vorschau bei jedem Schritt; kostet wenig</translation>
    </message>
    <message>
        <source>A system notification, if the window is not in front</source>
        <translation>Eine Systembenachrichtigung, wenn das Fenster nicht vorn ist</translation>
    </message>
    <message>
        <source>All, to make them again</source>
        <translation>Alle, um sie wieder zu erzeugen</translation>
    </message>
    <message>
        <source>Allow searching for models online</source>
        <translation>Online-Suche nach Modellen erlauben</translation>
    </message>
    <message>
        <source>Another engine</source>
        <translation>Andere Engine</translation>
    </message>
    <message>
        <source>Ask</source>
        <translation>Fragen</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>CSV of A1111&apos;s tag completion; its tags are offered while you type</source>
        <translation>CSV-Datei der Tag-Vervollständigung von A1111; ihre Tags werden beim Tippen angeboten</translation>
    </message>
    <message>
        <source>Changes are saved at once</source>
        <translation>Änderungen werden sofort gespeichert</translation>
    </message>
    <message>
        <source>Clear prompt history</source>
        <translation>Prompt-Verlauf löschen</translation>
    </message>
    <message>
        <source>Colours of the latents</source>
        <translation>Farben der Latents</translation>
    </message>
    <message>
        <source>Continue in background</source>
        <translation>Im Hintergrund fortsetzen</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>Engine</translation>
    </message>
    <message>
        <source>Fast: quantize rather than stream</source>
        <translation>Schnell: quantisieren statt streamen</translation>
    </message>
    <message>
        <source>For Alt+Up and Alt+Down in the prompt; stays on this machine</source>
        <translation>Für Alt+Hoch und Alt+Herunter im Prompt; bleibt auf diesem Rechner</translation>
    </message>
    <message>
        <source>Generate on</source>
        <translation>Generieren auf</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Images keep the prompts in their metadata</source>
        <translation>Bilder behalten die Prompts in ihren Metadaten</translation>
    </message>
    <message>
        <source>Keep prompt history</source>
        <translation>Prompt-Verlauf behalten</translation>
    </message>
    <message>
        <source>Keep the computer awake while generating</source>
        <translation>Computer beim Generieren wach halten</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Lowest: as little memory as possible</source>
        <translation>Minimal: so wenig Speicher wie möglich</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>Rechner</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Metadata in images</source>
        <translation>Metadaten in Bildern</translation>
    </message>
    <message>
        <source>Mezzotint&apos;s own kernel</source>
        <translation>Eigener Kernel von Mezzotint</translation>
    </message>
    <message>
        <source>Mezzotint&apos;s own kernel, 16-bit sums</source>
        <translation>Mezzotints eigener Kernel, 16-Bit-Summen</translation>
    </message>
    <message>
        <source>Mezzotint&apos;s own kernel, 8 bits</source>
        <translation>Eigener Kernel von Mezzotint, 8 Bit</translation>
    </message>
    <message>
        <source>Mezzotint&apos;s own kernel, 8 bits throughout</source>
        <translation>Eigener Kernel von Mezzotint, durchgehend 8 Bit</translation>
    </message>
    <message>
        <source>Mezzotint&apos;s own kernel, 8 bits, values as floats</source>
        <translation>Eigener Kernel von Mezzotint, 8 Bit, Werte als Gleitkommazahlen</translation>
    </message>
    <message>
        <source>Model hub</source>
        <translation>Modell-Hub</translation>
    </message>
    <message>
        <source>Model hub address</source>
        <translation>Adresse des Modell-Hubs</translation>
    </message>
    <message>
        <source>NAME.txt has a line for each text that __NAME__ can become</source>
        <translation>NAME.txt enthält eine Zeile für jeden Text, zu dem __NAME__ werden kann</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>Keine Grenze</translation>
    </message>
    <message>
        <source>None of it</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>Nothing leaves this machine. Mezzotint goes online only when you press “Check”, “Search” or “Download” for a model, and sends nothing about you or your images.</source>
        <translation>Nichts verlässt diesen Rechner. Mezzotint nutzt das Netz nur, wenn für ein Modell auf „Prüfen“, „Suchen“ oder „Herunterladen“ geklickt wird, und sendet nichts über Personen oder Bilder.</translation>
    </message>
    <message>
        <source>Notify when the queue is done</source>
        <translation>Benachrichtigen, wenn die Warteschlange fertig ist</translation>
    </message>
    <message>
        <source>Previews by</source>
        <translation>Vorschau durch</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Datenschutz</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Quit and pause</source>
        <translation>Beenden und pausieren</translation>
    </message>
    <message>
        <source>RAM limit</source>
        <translation>RAM-Grenze</translation>
    </message>
    <message>
        <source>Reference (slow)</source>
        <translation>Referenz (langsam)</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Show previews</source>
        <translation>Vorschau anzeigen</translation>
    </message>
    <message>
        <source>System</source>
        <translation>System</translation>
    </message>
    <message>
        <source>Tag file</source>
        <translation>Tag-Datei</translation>
    </message>
    <message>
        <source>The screen may still turn off</source>
        <translation>Der Bildschirm darf sich trotzdem ausschalten</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Farbschema</translation>
    </message>
    <message>
        <source>VRAM limit</source>
        <translation>VRAM-Grenze</translation>
    </message>
    <message>
        <source>What other programs read</source>
        <translation>Was andere Programme lesen</translation>
    </message>
    <message>
        <source>When closed with jobs left</source>
        <translation>Beim Schließen mit offenen Aufträgen</translation>
    </message>
    <message>
        <source>Wildcard folder</source>
        <translation>Wildcard-Ordner</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>torch</source>
        <translation>torch</translation>
    </message>
</context>
<context>
    <name>SettingsText</name>
    <message>
        <source>CFG scale</source>
        <translation>CFG-Skala</translation>
    </message>
    <message>
        <source>Distilled guidance</source>
        <translation>Destillierte Führung</translation>
    </message>
    <message>
        <source>Made with</source>
        <translation>Erstellt mit</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Sampler</source>
        <translation>Sampler</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>Stärke</translation>
    </message>
    <message>
        <source>Styles</source>
        <translation>Stile</translation>
    </message>
    <message>
        <source>Variation</source>
        <translation>Variation</translation>
    </message>
    <message>
        <source>{strength} towards seed {seed}</source>
        <translation>{strength} in Richtung Seed {seed}</translation>
    </message>
</context>
<context>
    <name>SetupCommand</name>
    <message>
        <source>Pausing…</source>
        <translation>Wird angehalten…</translation>
    </message>
</context>
<context>
    <name>Shortcuts</name>
    <message>
        <source>Accept the candidate</source>
        <translation>Vorschlag übernehmen</translation>
    </message>
    <message>
        <source>All pages</source>
        <translation>Überall</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Batch</translation>
    </message>
    <message>
        <source>Before, after</source>
        <translation>Vorher, nachher</translation>
    </message>
    <message>
        <source>Boards and tags of images</source>
        <translation>Boards und Tags von Bildern</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Canvas</source>
        <translation>Arbeitsfläche</translation>
    </message>
    <message>
        <source>Change the weight of words</source>
        <translation>Gewicht von Wörtern ändern</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Colour</source>
        <translation>Farbe</translation>
    </message>
    <message>
        <source>Compare two to four</source>
        <translation>Zwei bis vier vergleichen</translation>
    </message>
    <message>
        <source>Copy its settings</source>
        <translation>Seine Einstellungen kopieren</translation>
    </message>
    <message>
        <source>Copy the image</source>
        <translation>Das Bild kopieren</translation>
    </message>
    <message>
        <source>Create</source>
        <translation>Erstellen</translation>
    </message>
    <message>
        <source>Discard the candidate, or erase the selection</source>
        <translation>Vorschlag verwerfen oder Auswahl löschen</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>Duplizieren</translation>
    </message>
    <message>
        <source>Edit this image</source>
        <translation>Dieses Bild bearbeiten</translation>
    </message>
    <message>
        <source>First, last image</source>
        <translation>Erstes, letztes Bild</translation>
    </message>
    <message>
        <source>Fit to window, actual size</source>
        <translation>An Fenster anpassen, Originalgröße</translation>
    </message>
    <message>
        <source>Fit to window, or actual size</source>
        <translation>An Fenster anpassen oder Originalgröße</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Vollbild</translation>
    </message>
    <message>
        <source>Gallery</source>
        <translation>Galerie</translation>
    </message>
    <message>
        <source>Generate</source>
        <translation>Generieren</translation>
    </message>
    <message>
        <source>Generate next</source>
        <translation>Als Nächstes generieren</translation>
    </message>
    <message>
        <source>Give up the shape</source>
        <translation>Form verwerfen</translation>
    </message>
    <message>
        <source>Hold or release the tool</source>
        <translation>Werkzeug halten oder loslassen</translation>
    </message>
    <message>
        <source>Image details</source>
        <translation>Bilddetails</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Invert selection</source>
        <translation>Auswahl umkehren</translation>
    </message>
    <message>
        <source>List of boards</source>
        <translation>Liste der Boards</translation>
    </message>
    <message>
        <source>Load settings</source>
        <translation>Einstellungen laden</translation>
    </message>
    <message>
        <source>Load settings in Create</source>
        <translation>Einstellungen in „Erstellen“ laden</translation>
    </message>
    <message>
        <source>Mark for comparison</source>
        <translation>Zum Vergleich markieren</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Move the divider</source>
        <translation>Trennlinie verschieben</translation>
    </message>
    <message>
        <source>Move the tool; with Shift in small steps</source>
        <translation>Werkzeug bewegen; mit Umschalt in kleinen Schritten</translation>
    </message>
    <message>
        <source>Move to front</source>
        <translation>An den Anfang</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>In den Papierkorb</translation>
    </message>
    <message>
        <source>Move up, move down</source>
        <translation>Nach oben, nach unten</translation>
    </message>
    <message>
        <source>Open in canvas</source>
        <translation>Auf der Arbeitsfläche öffnen</translation>
    </message>
    <message>
        <source>Open the output folder</source>
        <translation>Ausgabeordner öffnen</translation>
    </message>
    <message>
        <source>Open, save</source>
        <translation>Öffnen, speichern</translation>
    </message>
    <message>
        <source>Pan</source>
        <translation>Ausschnitt verschieben</translation>
    </message>
    <message>
        <source>Paste an image</source>
        <translation>Bild einfügen</translation>
    </message>
    <message>
        <source>Press the tool</source>
        <translation>Werkzeug ansetzen</translation>
    </message>
    <message>
        <source>Previous, next candidate</source>
        <translation>Voriger, nächster Vorschlag</translation>
    </message>
    <message>
        <source>Previous, next image</source>
        <translation>Voriges, nächstes Bild</translation>
    </message>
    <message>
        <source>Prompt history</source>
        <translation>Prompt-Verlauf</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Rating; 0 clears it</source>
        <translation>Bewertung; 0 löscht sie</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove background</source>
        <translation>Hintergrund entfernen</translation>
    </message>
    <message>
        <source>Rename a board</source>
        <translation>Ein Board umbenennen</translation>
    </message>
    <message>
        <source>Restore from trash</source>
        <translation>Aus dem Papierkorb wiederherstellen</translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Select the frame, deselect</source>
        <translation>Rahmen auswählen, Auswahl aufheben</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Show in its folder</source>
        <translation>In seinem Ordner anzeigen</translation>
    </message>
    <message>
        <source>Show its images</source>
        <translation>Seine Bilder anzeigen</translation>
    </message>
    <message>
        <source>Slideshow</source>
        <translation>Diashow</translation>
    </message>
    <message>
        <source>Smaller, larger brush</source>
        <translation>Kleinerer, größerer Pinsel</translation>
    </message>
    <message>
        <source>Softer, harder brush</source>
        <translation>Weicherer, härterer Pinsel</translation>
    </message>
    <message>
        <source>Sort by similarity</source>
        <translation>Nach Ähnlichkeit sortieren</translation>
    </message>
    <message>
        <source>Stars</source>
        <translation>Sterne</translation>
    </message>
    <message>
        <source>The engine&apos;s log</source>
        <translation>Protokoll der Engine</translation>
    </message>
    <message>
        <source>This list</source>
        <translation>Diese Liste</translation>
    </message>
    <message>
        <source>Toggle star</source>
        <translation>Stern umschalten</translation>
    </message>
    <message>
        <source>Tools, in the toolbar&apos;s order</source>
        <translation>Werkzeuge, in der Reihenfolge der Leiste</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>Trainieren</translation>
    </message>
    <message>
        <source>Undo, redo</source>
        <translation>Rückgängig, wiederherstellen</translation>
    </message>
    <message>
        <source>Upscale</source>
        <translation>Hochskalieren</translation>
    </message>
    <message>
        <source>Use as init image</source>
        <translation>Als Ausgangsbild verwenden</translation>
    </message>
    <message>
        <source>Use in Create</source>
        <translation>In „Erstellen“ verwenden</translation>
    </message>
    <message>
        <source>Variations</source>
        <translation>Variationen</translation>
    </message>
    <message>
        <source>Variations, remix, other model</source>
        <translation>Variationen, Remix, anderes Modell</translation>
    </message>
    <message>
        <source>Zoom in, zoom out</source>
        <translation>Vergrößern, verkleinern</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
</context>
<context>
    <name>SimilarityNotice</name>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Stop looking at images; the others come last</source>
        <translation>Betrachten der Bilder anhalten; die übrigen kommen zuletzt</translation>
    </message>
</context>
<context>
    <name>SizePicker</name>
    <message>
        <source>Aspect ratio</source>
        <translation>Seitenverhältnis</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Eigene</translation>
    </message>
    <message>
        <source>Height in pixels</source>
        <translation>Höhe in Pixeln</translation>
    </message>
    <message>
        <source>Lock the aspect ratio</source>
        <translation>Seitenverhältnis sperren</translation>
    </message>
    <message>
        <source>Model default: {0} × {1}</source>
        <translation>Modellstandard: {0} × {1}</translation>
    </message>
    <message>
        <source>Sizes that suit the model, by aspect ratio</source>
        <translation>Größen, die zum Modell passen, nach Seitenverhältnis</translation>
    </message>
    <message>
        <source>Swap width and height</source>
        <translation>Breite und Höhe tauschen</translation>
    </message>
    <message>
        <source>Width in pixels</source>
        <translation>Breite in Pixeln</translation>
    </message>
    <message>
        <source>landscape</source>
        <translation>Querformat</translation>
    </message>
    <message>
        <source>portrait</source>
        <translation>Hochformat</translation>
    </message>
    <message>
        <source>square</source>
        <translation>quadratisch</translation>
    </message>
    <message>
        <source>{shape}, {pixels} megapixels</source>
        <translation>{shape}, {pixels} Megapixel</translation>
    </message>
</context>
<context>
    <name>SliderSpin</name>
    <message>
        <source>{name}, slider</source>
        <translation>{name}, Regler</translation>
    </message>
</context>
<context>
    <name>StarRow</name>
    <message numerus="yes">
        <source>%n stars (key: the digit; 0: none)</source>
        <translation>
            <numerusform>%n Stern (Taste: die Ziffer; 0: keine)</numerusform>
            <numerusform>%n Sterne (Taste: die Ziffer; 0: keine)</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Rating: %n stars</source>
        <translation>
            <numerusform>Bewertung: %n Stern</numerusform>
            <numerusform>Bewertung: %n Sterne</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Status</name>
    <message>
        <source>Cancel engine start</source>
        <translation>Start der Engine abbrechen</translation>
    </message>
    <message>
        <source>Cancel loading</source>
        <translation>Laden abbrechen</translation>
    </message>
    <message>
        <source>Engine installed</source>
        <translation>Engine installiert</translation>
    </message>
    <message>
        <source>Engine status and log (Ctrl+L)</source>
        <translation>Zustand und Protokoll der Engine (Strg+L)</translation>
    </message>
    <message>
        <source>Installing the engine</source>
        <translation>Engine wird installiert</translation>
    </message>
    <message>
        <source>No engine installed</source>
        <translation>Keine Engine installiert</translation>
    </message>
    <message>
        <source>RAM {used}</source>
        <translation>RAM {used}</translation>
    </message>
    <message>
        <source>Shows the engine&apos;s installation</source>
        <translation>Zeigt die Installation der Engine</translation>
    </message>
    <message>
        <source>VRAM {used}</source>
        <translation>VRAM {used}</translation>
    </message>
    <message>
        <source>{percent} % - Mezzotint</source>
        <translation>{percent} % - Mezzotint</translation>
    </message>
</context>
<context>
    <name>StatusLine</name>
    <message>
        <source>Opens the queue (Ctrl+2)</source>
        <translation>Öffnet die Warteschlange (Strg+2)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stoppen</translation>
    </message>
</context>
<context>
    <name>Stored</name>
    <message>
        <source>it could not be renamed and will be replaced</source>
        <translation>die Datei konnte nicht umbenannt werden und wird ersetzt</translation>
    </message>
    <message>
        <source>it was renamed to {path}</source>
        <translation>die Datei wurde in {path} umbenannt</translation>
    </message>
    <message>
        <source>{0}. Your changes are kept in this window, and saving is retried.</source>
        <translation>{0}. Änderungen bleiben in diesem Fenster erhalten, und das Speichern wird erneut versucht.</translation>
    </message>
    <message>
        <source>{path} could not be read ({reason}); {kept}, and defaults are used for what is missing.</source>
        <translation>{path} konnte nicht gelesen werden ({reason}); {kept}, und für Fehlendes gelten Standardwerte.</translation>
    </message>
</context>
<context>
    <name>StyleBar</name>
    <message>
        <source>Choose styles, which surround the prompt with their texts; save, import and remove them</source>
        <translation>Stile wählen, die den Prompt mit ihren Texten umgeben; speichern, importieren und löschen</translation>
    </message>
    <message>
        <source>Remove style {name}</source>
        <translation>Stil {name} entfernen</translation>
    </message>
    <message>
        <source>Styles…</source>
        <translation>Stile…</translation>
    </message>
</context>
<context>
    <name>StyleChoices</name>
    <message numerus="yes">
        <source>%n styles added</source>
        <translation>
            <numerusform>%n Stil hinzugefügt</numerusform>
            <numerusform>%n Stile hinzugefügt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n were there already</source>
        <translation>
            <numerusform>%n war schon da</numerusform>
            <numerusform>%n waren schon da</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StylesDialog</name>
    <message>
        <source>Add it to the prompt, and its settings to the page</source>
        <translation>Fügt ihn zum Prompt hinzu und übernimmt seine Einstellungen auf der Seite</translation>
    </message>
    <message>
        <source>Add the styles of a styles.csv of A1111, or a .json file of Fooocus&apos; folder sdxl_styles</source>
        <translation>Die Stile einer styles.csv von A1111 oder einer .json-Datei aus dem Fooocus-Ordner sdxl_styles hinzufügen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Delete this style for good</source>
        <translation>Diesen Stil endgültig löschen</translation>
    </message>
    <message>
        <source>Find styles</source>
        <translation>Stile suchen</translation>
    </message>
    <message>
        <source>Import styles</source>
        <translation>Stile importieren</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>Importieren…</translation>
    </message>
    <message>
        <source>Its settings stay on the page</source>
        <translation>Seine Einstellungen bleiben auf der Seite</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativ-Prompt</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Remove from prompt</source>
        <translation>Vom Prompt entfernen</translation>
    </message>
    <message>
        <source>Save settings…</source>
        <translation>Einstellungen speichern…</translation>
    </message>
    <message>
        <source>Save the settings of the Create page as a style</source>
        <translation>Die Einstellungen der Seite „Erstellen“ als Stil speichern</translation>
    </message>
    <message>
        <source>Show styles whose name or text contains this</source>
        <translation>Nur Stile zeigen, deren Name oder Text dies enthält</translation>
    </message>
    <message>
        <source>Styles</source>
        <translation>Stile</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
</context>
<context>
    <name>Supervisor</name>
    <message>
        <source>No engine is installed yet, so no images can be made. The gallery, the models and the settings work. Install an engine, or install Mezzotint again.</source>
        <translation>Es ist noch keine Engine installiert, daher können keine Bilder erzeugt werden. Galerie, Modelle und Einstellungen funktionieren. Installieren Sie eine Engine, oder installieren Sie Mezzotint neu.</translation>
    </message>
    <message>
        <source>cancelled before it started</source>
        <translation>vor dem Start abgebrochen</translation>
    </message>
    <message>
        <source>{name} could not be started: {detail}</source>
        <translation>{name} konnte nicht gestartet werden: {detail}</translation>
    </message>
    <message>
        <source>{name} has a different version than this window ({detail}): reinstall Mezzotint.</source>
        <translation>{name} hat eine andere Version als dieses Fenster ({detail}): Mezzotint neu installieren.</translation>
    </message>
    <message>
        <source>{name} is not running.</source>
        <translation>{name} läuft nicht.</translation>
    </message>
</context>
<context>
    <name>ThumbnailDelegate</name>
    <message>
        <source>Cannot be shown</source>
        <translation>Nicht darstellbar</translation>
    </message>
</context>
<context>
    <name>TimeBar</name>
    <message>
        <source>Time: {parts}</source>
        <translation>Zeit: {parts}</translation>
    </message>
</context>
<context>
    <name>Timeline</name>
    <message>
        <source>decoding</source>
        <translation>Dekodieren</translation>
    </message>
    <message>
        <source>encoding</source>
        <translation>Kodieren</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>saving</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>stage {number} ({steps} steps)</source>
        <translation>Stufe {number} ({steps} Schritte)</translation>
    </message>
    <message>
        <source>{steps} steps</source>
        <translation>{steps} Schritte</translation>
    </message>
</context>
<context>
    <name>TrainFormView</name>
    <message>
        <source>A folder with 10 to 50 images of what is to be learned</source>
        <translation>Ein Ordner mit 10 bis 50 Bildern von dem, was gelernt werden soll</translation>
    </message>
    <message>
        <source>A made-up word: prompts that contain it show what was learned</source>
        <translation>Ein erfundenes Wort: Prompts mit diesem Wort zeigen das Gelernte</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>Also learn from mirrored images; not for faces and text</source>
        <translation>Auch aus gespiegelten Bildern lernen; nicht für Gesichter und Text</translation>
    </message>
    <message>
        <source>Also mirrored</source>
        <translation>Auch gespiegelt</translation>
    </message>
    <message>
        <source>An image of each is generated at every epoch, to compare</source>
        <translation>In jeder Epoche wird zu jedem ein Bild generiert, zum Vergleichen</translation>
    </message>
    <message>
        <source>Automatic: as memory needs</source>
        <translation>Automatisch: nach Speicherbedarf</translation>
    </message>
    <message>
        <source>Batch size</source>
        <translation>Batchgröße</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>Epochen</translation>
    </message>
    <message>
        <source>How long it learns: too few steps do not show it, too many copy the images</source>
        <translation>Wie lange gelernt wird: Bei zu wenigen Schritten ist nichts zu sehen, zu viele kopieren die Bilder</translation>
    </message>
    <message>
        <source>How many LoRAs are saved on the way, to choose the best from</source>
        <translation>Wie viele LoRAs unterwegs gespeichert werden, um die beste zu wählen</translation>
    </message>
    <message>
        <source>How much each step changes</source>
        <translation>Wie viel jeder Schritt ändert</translation>
    </message>
    <message>
        <source>How steps are computed; 8-bit needs less memory</source>
        <translation>Wie Schritte berechnet werden; 8-bit braucht weniger Speicher</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Images for validation</source>
        <translation>Bilder zur Validierung</translation>
    </message>
    <message>
        <source>Images in each step; more need more memory</source>
        <translation>Bilder je Schritt; mehr brauchen mehr Speicher</translation>
    </message>
    <message>
        <source>Images that the model makes itself and keeps learning, so that it forgets less; 0: none</source>
        <translation>Bilder, die das Modell selbst generiert und weiter lernt, damit es weniger vergisst; 0: keine</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Regularization images</source>
        <translation>Regularisierungsbilder</translation>
    </message>
    <message>
        <source>Resolution</source>
        <translation>Auflösung</translation>
    </message>
    <message>
        <source>Sample prompts, one per line</source>
        <translation>Beispiel-Prompts, einer je Zeile</translation>
    </message>
    <message>
        <source>Sample prompts, rank, learning rate, validation</source>
        <translation>Beispiel-Prompts, Rang, Lernrate, Validierung</translation>
    </message>
    <message>
        <source>Share of the images to test on and not to learn from; 0: none</source>
        <translation>Anteil der Bilder, an denen geprüft und nicht gelernt wird; 0: keine</translation>
    </message>
    <message>
        <source>The file name of the LoRA</source>
        <translation>Der Dateiname der LoRA</translation>
    </message>
    <message>
        <source>The model that learns; the LoRA works with models of its kind</source>
        <translation>Das Modell, das lernt; die LoRA passt zu Modellen dieser Art</translation>
    </message>
    <message>
        <source>The ordinary word for it; it keeps the model from forgetting what others of this kind look like</source>
        <translation>Das gewöhnliche Wort dafür; damit das Modell nicht vergisst, wie anderes dieser Art aussieht</translation>
    </message>
    <message>
        <source>The side of a square image in pixels; smaller needs less memory</source>
        <translation>Die Seite eines quadratischen Bildes in Pixeln; kleinere brauchen weniger Speicher</translation>
    </message>
    <message>
        <source>The size of the LoRA: higher ones learn more detail, and forget more</source>
        <translation>Die Größe der LoRA: Höhere lernen mehr Einzelheiten und vergessen mehr</translation>
    </message>
    <message>
        <source>Training steps</source>
        <translation>Trainingsschritte</translation>
    </message>
    <message>
        <source>Trigger word</source>
        <translation>Auslösewort</translation>
    </message>
    <message>
        <source>What it is</source>
        <translation>Was es ist</translation>
    </message>
    <message>
        <source>choose a folder, or drop it here</source>
        <translation>Ordner wählen oder hier ablegen</translation>
    </message>
    <message>
        <source>such as: castle, woman, painting</source>
        <translation>etwa: Schloss, Frau, Gemälde</translation>
    </message>
    <message>
        <source>such as: zibble</source>
        <translation>etwa: zibble</translation>
    </message>
</context>
<context>
    <name>TrainModel</name>
    <message>
        <source>A training run with this name exists: resume it, or choose another name.</source>
        <translation>Einen Trainingslauf mit diesem Namen gibt es schon: fortsetzen oder einen anderen Namen wählen.</translation>
    </message>
    <message>
        <source>Choose the folder with your images.</source>
        <translation>Den Ordner mit den Bildern wählen.</translation>
    </message>
    <message>
        <source>No model can be trained: download one on the Models page.</source>
        <translation>Kein Modell kann trainiert werden: auf der Seite „Modelle“ eines herunterladen.</translation>
    </message>
    <message>
        <source>Reading the images…</source>
        <translation>Bilder werden gelesen …</translation>
    </message>
    <message>
        <source>Training has finished: choose an epoch to use.</source>
        <translation>Das Training ist fertig: eine Epoche zum Verwenden wählen.</translation>
    </message>
    <message>
        <source>Training of {name} has stopped. {words}</source>
        <translation>Das Training von {name} wurde beendet. {words}</translation>
    </message>
    <message>
        <source>Use letters, digits, spaces and hyphens only.</source>
        <translation>Nur Buchstaben, Ziffern, Leerzeichen und Bindestriche verwenden.</translation>
    </message>
</context>
<context>
    <name>TrainPage</name>
    <message>
        <source>A training run is in progress: pause it, or wait until it has finished.</source>
        <translation>Ein Trainingslauf ist im Gang: pausieren oder warten, bis er fertig ist.</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Images and training runs</source>
        <translation>Bilder und Trainingsläufe</translation>
    </message>
    <message>
        <source>Start training</source>
        <translation>Training starten</translation>
    </message>
    <message>
        <source>Train with these settings; the queue waits meanwhile</source>
        <translation>Mit diesen Einstellungen trainieren; die Warteschlange wartet so lange</translation>
    </message>
    <message>
        <source>Training runs</source>
        <translation>Trainingsläufe</translation>
    </message>
</context>
<context>
    <name>Training</name>
    <message numerus="yes">
        <source>%n images</source>
        <translation>
            <numerusform>%n Bild</numerusform>
            <numerusform>%n Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n images have a warning sign: point at them to read why.</source>
        <translation>
            <numerusform>%n Bild hat ein Warnzeichen: Der Mauszeiger darauf zeigt den Grund.</numerusform>
            <numerusform>%n Bilder haben ein Warnzeichen: Der Mauszeiger darauf zeigt den Grund.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n steps</source>
        <translation>
            <numerusform>%n Schritt</numerusform>
            <numerusform>%n Schritte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>All of %n images have captions.</source>
        <translation>
            <numerusform>Das Bild hat eine Beschreibung.</numerusform>
            <numerusform>Alle %n Bilder haben Beschreibungen.</numerusform>
        </translation>
    </message>
    <message>
        <source>Does not fit: {need} of memory are needed, {have} are free ({parts}). A lower resolution, batch size or rank, or another model needs less.</source>
        <translation>Passt nicht: {need} Speicher werden gebraucht, {have} sind frei ({parts}). Eine geringere Auflösung, Batchgröße oder ein geringerer Rang oder ein anderes Modell braucht weniger.</translation>
    </message>
    <message>
        <source>Encoding captions: {done} of {total}</source>
        <translation>Beschreibungen werden codiert: {done} von {total}</translation>
    </message>
    <message>
        <source>Encoding images: {done} of {total}</source>
        <translation>Bilder werden codiert: {done} von {total}</translation>
    </message>
    <message>
        <source>Epoch {number}, step {step}</source>
        <translation>Epoche {number}, Schritt {step}</translation>
    </message>
    <message numerus="yes">
        <source>Finished after %n steps.</source>
        <translation>
            <numerusform>Fertig nach %n Schritt.</numerusform>
            <numerusform>Fertig nach %n Schritten.</numerusform>
        </translation>
    </message>
    <message>
        <source>Generating regularization images: {done} of {total}</source>
        <translation>Regularisierungsbilder werden generiert: {done} von {total}</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Modell wird geladen</translation>
    </message>
    <message>
        <source>Memory: {need} of {have} ({parts})</source>
        <translation>Speicher: {need} von {have} ({parts})</translation>
    </message>
    <message>
        <source>Paused after step {step} of {steps}.</source>
        <translation>Pausiert nach Schritt {step} von {steps}.</translation>
    </message>
    <message>
        <source>Pausing after this step…</source>
        <translation>Pause nach diesem Schritt …</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>Vorbereitung …</translation>
    </message>
    <message>
        <source>Reading the images: {done} of {total}</source>
        <translation>Bilder werden gelesen: {done} von {total}</translation>
    </message>
    <message>
        <source>Step {step} of {steps}</source>
        <translation>Schritt {step} von {steps}</translation>
    </message>
    <message>
        <source>Stopped after step {step} of {steps}.</source>
        <translation>Beendet nach Schritt {step} von {steps}.</translation>
    </message>
    <message>
        <source>What was trained so far is kept: the run can be resumed.</source>
        <translation>Das bisher Trainierte bleibt erhalten: Der Lauf kann fortgesetzt werden.</translation>
    </message>
    <message>
        <source>captions encoded on the CPU</source>
        <translation>Bildbeschreibungen auf der CPU kodiert</translation>
    </message>
    <message>
        <source>images encoded in tiles</source>
        <translation>Bilder in Kacheln kodiert</translation>
    </message>
    <message>
        <source>optimizer in few bits</source>
        <translation>Optimierer in wenigen Bits</translation>
    </message>
    <message>
        <source>some activations computed twice</source>
        <translation>manche Aktivierungen doppelt berechnet</translation>
    </message>
    <message>
        <source>the time is known after the first steps</source>
        <translation>die Dauer ist nach den ersten Schritten bekannt</translation>
    </message>
    <message>
        <source>{captioned} of {images} images have captions.</source>
        <translation>{captioned} von {images} Bildern haben Beschreibungen.</translation>
    </message>
    <message>
        <source>{epoch}, validation loss {loss}</source>
        <translation>{epoch}, Validierungsverlust {loss}</translation>
    </message>
    <message>
        <source>{name} ({model})</source>
        <translation>{name} ({model})</translation>
    </message>
    <message>
        <source>{size} on disk</source>
        <translation>{size} auf der Festplatte</translation>
    </message>
    <message>
        <source>{weights} of weights, {state} of gradients and optimizer, {live} of activations</source>
        <translation>{weights} Gewichte, {state} Gradienten und Optimierer, {live} Aktivierungen</translation>
    </message>
</context>
<context>
    <name>TrashNotice</name>
    <message>
        <source>Moved to trash: {0}</source>
        <translation>In den Papierkorb verschoben: {0}</translation>
    </message>
    <message>
        <source>Restore them from the trash ({keys})</source>
        <translation>Aus dem Papierkorb wiederherstellen ({keys})</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
</context>
<context>
    <name>UpscaleDialog</name>
    <message>
        <source>Add detail (second pass)</source>
        <translation>Details ergänzen (zweiter Durchgang)</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close without upscaling</source>
        <translation>Schließen, ohne hochzuskalieren</translation>
    </message>
    <message>
        <source>Denoising strength</source>
        <translation>Denoising-Stärke</translation>
    </message>
    <message>
        <source>How much larger each side becomes</source>
        <translation>Um wie viel größer jede Seite wird</translation>
    </message>
    <message>
        <source>Low sharpens the image; high invents new detail</source>
        <translation>Niedrig schärft das Bild; hoch erfindet neue Details</translation>
    </message>
    <message>
        <source>Other upscalers are found in folders named upscale_models (ComfyUI) or ESRGAN (A1111).</source>
        <translation>Andere Upscaler werden in Ordnern namens upscale_models (ComfyUI) oder ESRGAN (A1111) gefunden.</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>Skalierung</translation>
    </message>
    <message>
        <source>Starts in the background</source>
        <translation>Startet im Hintergrund</translation>
    </message>
    <message>
        <source>The enlarged copy is saved next to the original, with the same settings in it.</source>
        <translation>Die vergrößerte Kopie wird neben dem Original gespeichert und enthält dieselben Einstellungen.</translation>
    </message>
    <message>
        <source>The model that made the image denoises the enlarged one in tiles; it waits in the queue</source>
        <translation>Das Modell, das das Bild erzeugt hat, entrauscht das vergrößerte in Kacheln; der Auftrag kommt in die Warteschlange</translation>
    </message>
    <message>
        <source>The network that enlarges the image</source>
        <translation>Das Netz, das das Bild vergrößert</translation>
    </message>
    <message>
        <source>Upscale</source>
        <translation>Hochskalieren</translation>
    </message>
    <message>
        <source>Upscaler</source>
        <translation>Upscaler</translation>
    </message>
</context>
<context>
    <name>UpscaleNotice</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Stop, and drop what is waiting</source>
        <translation>Anhalten und Wartendes verwerfen</translation>
    </message>
</context>
<context>
    <name>Viewer</name>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>Schließen (Esc)</translation>
    </message>
    <message>
        <source>Compare: mark this image, then go to another (C)</source>
        <translation>Vergleichen: dieses Bild markieren, dann zu einem anderen gehen (C)</translation>
    </message>
    <message>
        <source>Copy image (Ctrl+C)</source>
        <translation>Bild kopieren (Strg+C)</translation>
    </message>
    <message>
        <source>Copy settings as text (Ctrl+Shift+C)</source>
        <translation>Einstellungen als Text kopieren (Strg+Umschalt+C)</translation>
    </message>
    <message>
        <source>Image copied.</source>
        <translation>Bild kopiert.</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Lädt…</translation>
    </message>
    <message>
        <source>Move to trash (Del)</source>
        <translation>In den Papierkorb (Entf)</translation>
    </message>
    <message>
        <source>Next image (Right, Page Down)</source>
        <translation>Nächstes Bild (Rechts, Bild ab)</translation>
    </message>
    <message>
        <source>Previous image (Left, Page Up)</source>
        <translation>Voriges Bild (Links, Bild auf)</translation>
    </message>
    <message>
        <source>Queue variations (V)</source>
        <translation>Variationen in die Warteschlange (V)</translation>
    </message>
    <message>
        <source>Restore what was last moved to the trash (Ctrl+Z)</source>
        <translation>Zuletzt in den Papierkorb Verschobenes wiederherstellen (Strg+Z)</translation>
    </message>
    <message>
        <source>Settings copied.</source>
        <translation>Einstellungen kopiert.</translation>
    </message>
    <message>
        <source>Show image details (I)</source>
        <translation>Bilddetails anzeigen (I)</translation>
    </message>
    <message>
        <source>Slideshow (S)</source>
        <translation>Diashow (S)</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} von {1}</translation>
    </message>
</context>
<context>
    <name>ViewerInfo</name>
    <message>
        <source>Loading…</source>
        <translation>Lädt…</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativ-Prompt</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>This image has no generation metadata.</source>
        <translation>Dieses Bild hat keine Generierungs-Metadaten.</translation>
    </message>
</context>
<context>
    <name>ViewerKeeping</name>
    <message>
        <source>Moved to trash; Ctrl+Z restores it.</source>
        <translation>In den Papierkorb verschoben; Strg+Z stellt es wieder her.</translation>
    </message>
</context>
<context>
    <name>ViewerModel</name>
    <message>
        <source>This image has no generation metadata.</source>
        <translation>Dieses Bild hat keine Generierungs-Metadaten.</translation>
    </message>
</context>
<context>
    <name>WaitingCounts</name>
    <message numerus="yes">
        <source>%Ln jobs need attention</source>
        <translation>
            <numerusform>%Ln Auftrag muss geprüft werden</numerusform>
            <numerusform>%Ln Aufträge müssen geprüft werden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln jobs waiting</source>
        <translation>
            <numerusform>%Ln Auftrag wartet</numerusform>
            <numerusform>%Ln Aufträge warten</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Watchdog</name>
    <message>
        <source>it was handling a request</source>
        <translation>beim Bearbeiten einer Anfrage</translation>
    </message>
    <message>
        <source>it was starting</source>
        <translation>beim Starten</translation>
    </message>
</context>
<context>
    <name>WildcardEditor</name>
    <message>
        <source>{name} is not a name: use letters, digits, - and single _, and / for folders.</source>
        <translation>{name} ist kein Name: Verwenden Sie Buchstaben, Ziffern, - und einzelne _, und / für Ordner.</translation>
    </message>
</context>
<context>
    <name>WildcardsDialog</name>
    <message>
        <source>A dot marks unsaved changes</source>
        <translation>Ein Punkt zeigt ungespeicherte Änderungen an</translation>
    </message>
    <message>
        <source>Add this wildcard to the end of the prompt</source>
        <translation>Diese Wildcard an den Prompt anhängen</translation>
    </message>
    <message>
        <source>Begin a wildcard; a / in its name makes a folder</source>
        <translation>Eine Wildcard beginnen; ein / im Namen legt einen Ordner an</translation>
    </message>
    <message>
        <source>Changes of wildcards have not been saved, and would be lost.</source>
        <translation>Änderungen an Wildcards sind nicht gespeichert und gingen verloren.</translation>
    </message>
    <message>
        <source>Choose a folder for wildcards first; it may be empty.</source>
        <translation>Wählen Sie zuerst einen Ordner für Wildcards; er darf leer sein.</translation>
    </message>
    <message>
        <source>Close the editor</source>
        <translation>Den Editor schließen</translation>
    </message>
    <message>
        <source>Discard them</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Drawn, for example:</source>
        <translation>Gezogen, zum Beispiel:</translation>
    </message>
    <message>
        <source>Insert in prompt</source>
        <translation>In Prompt einfügen</translation>
    </message>
    <message>
        <source>NAME.txt has a line for each text that __NAME__ can become</source>
        <translation>NAME.txt hat eine Zeile für jeden Text, der für __NAME__ stehen kann</translation>
    </message>
    <message>
        <source>Name, as between underscores in a prompt</source>
        <translation>Name, wie zwischen Unterstrichen in einem Prompt</translation>
    </message>
    <message>
        <source>New wildcard</source>
        <translation>Neue Wildcard</translation>
    </message>
    <message>
        <source>New…</source>
        <translation>Neu …</translation>
    </message>
    <message>
        <source>One text per line; lines with # are comments, and other wildcards are allowed</source>
        <translation>Ein Text pro Zeile; Zeilen mit # sind Kommentare, andere Wildcards sind erlaubt</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>Texte</translation>
    </message>
    <message>
        <source>Wildcard folder</source>
        <translation>Wildcard-Ordner</translation>
    </message>
    <message>
        <source>Wildcards</source>
        <translation>Wildcards</translation>
    </message>
    <message>
        <source>Write the file (Ctrl+S)</source>
        <translation>Die Datei schreiben (Strg+S)</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keiner</translation>
    </message>
</context>
<context>
    <name>amounts</name>
    <message>
        <source>about {time}</source>
        <translation>etwa {time}</translation>
    </message>
    <message>
        <source>about {time} left</source>
        <translation>noch etwa {time}</translation>
    </message>
    <message>
        <source>nearly done</source>
        <translation>fast fertig</translation>
    </message>
    <message>
        <source>under 1 s</source>
        <translation>unter 1 s</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} von {total}</translation>
    </message>
    <message>
        <source>{h} h {m} min</source>
        <translation>{h} h {m} min</translation>
    </message>
    <message>
        <source>{n} min</source>
        <translation>{n} min</translation>
    </message>
    <message>
        <source>{n} s</source>
        <translation>{n} s</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>Mezzotint is already running but does not respond. Close its window or end its process, then start it again.</source>
        <translation>Mezzotint läuft schon, reagiert aber nicht. Sein Fenster schließen oder seinen Prozess beenden, dann erneut starten.</translation>
    </message>
</context>
<context>
    <name>sampler_choices</name>
    <message>
        <source>Sampler default</source>
        <translation>Sampler-Standard</translation>
    </message>
</context>
</TS>
