// The templates of github.com/github/gitignore (CC0-1.0) as packed by gitignr: one import each, so that the compiled
// executable holds the texts and no folder is scanned. A name in both folders is taken from the main one.
// Clojure, Fortran, Kotlin and Octave are links in the collection, which the package lost: they share another's text.
// Not `export { default } from`: the bundler forgets `type: 'text'` there and gives a path (Bun 1.4.5).
import actionscript from 'gitignr/gitignore/Actionscript.gitignore' with { type: 'text' }
import ada from 'gitignr/gitignore/Ada.gitignore' with { type: 'text' }
import agda from 'gitignr/gitignore/Agda.gitignore' with { type: 'text' }
import aL from 'gitignr/gitignore/AL.gitignore' with { type: 'text' }
import android from 'gitignr/gitignore/Android.gitignore' with { type: 'text' }
import appceleratorTitanium from 'gitignr/gitignore/AppceleratorTitanium.gitignore' with { type: 'text' }
import appEngine from 'gitignr/gitignore/AppEngine.gitignore' with { type: 'text' }
import archLinuxPackages from 'gitignr/gitignore/ArchLinuxPackages.gitignore' with { type: 'text' }
import autotools from 'gitignr/gitignore/Autotools.gitignore' with { type: 'text' }
import c from 'gitignr/gitignore/C.gitignore' with { type: 'text' }
import cpp from 'gitignr/gitignore/C++.gitignore' with { type: 'text' }
import cakePHP from 'gitignr/gitignore/CakePHP.gitignore' with { type: 'text' }
import cFWheels from 'gitignr/gitignore/CFWheels.gitignore' with { type: 'text' }
import chefCookbook from 'gitignr/gitignore/ChefCookbook.gitignore' with { type: 'text' }
import cMake from 'gitignr/gitignore/CMake.gitignore' with { type: 'text' }
import codeIgniter from 'gitignr/gitignore/CodeIgniter.gitignore' with { type: 'text' }
import commonLisp from 'gitignr/gitignore/CommonLisp.gitignore' with { type: 'text' }
import composer from 'gitignr/gitignore/Composer.gitignore' with { type: 'text' }
import concrete5 from 'gitignr/gitignore/Concrete5.gitignore' with { type: 'text' }
import coq from 'gitignr/gitignore/Coq.gitignore' with { type: 'text' }
import craftCMS from 'gitignr/gitignore/CraftCMS.gitignore' with { type: 'text' }
import cUDA from 'gitignr/gitignore/CUDA.gitignore' with { type: 'text' }
import d from 'gitignr/gitignore/D.gitignore' with { type: 'text' }
import dart from 'gitignr/gitignore/Dart.gitignore' with { type: 'text' }
import delphi from 'gitignr/gitignore/Delphi.gitignore' with { type: 'text' }
import dM from 'gitignr/gitignore/DM.gitignore' with { type: 'text' }
import drupal from 'gitignr/gitignore/Drupal.gitignore' with { type: 'text' }
import eagle from 'gitignr/gitignore/Eagle.gitignore' with { type: 'text' }
import elisp from 'gitignr/gitignore/Elisp.gitignore' with { type: 'text' }
import elixir from 'gitignr/gitignore/Elixir.gitignore' with { type: 'text' }
import elm from 'gitignr/gitignore/Elm.gitignore' with { type: 'text' }
import ePiServer from 'gitignr/gitignore/EPiServer.gitignore' with { type: 'text' }
import erlang from 'gitignr/gitignore/Erlang.gitignore' with { type: 'text' }
import expressionEngine from 'gitignr/gitignore/ExpressionEngine.gitignore' with { type: 'text' }
import extJs from 'gitignr/gitignore/ExtJs.gitignore' with { type: 'text' }
import fancy from 'gitignr/gitignore/Fancy.gitignore' with { type: 'text' }
import finale from 'gitignr/gitignore/Finale.gitignore' with { type: 'text' }
import flaxEngine from 'gitignr/gitignore/FlaxEngine.gitignore' with { type: 'text' }
import forceDotCom from 'gitignr/gitignore/ForceDotCom.gitignore' with { type: 'text' }
import fuelPHP from 'gitignr/gitignore/FuelPHP.gitignore' with { type: 'text' }
import gcov from 'gitignr/gitignore/Gcov.gitignore' with { type: 'text' }
import gitBook from 'gitignr/gitignore/GitBook.gitignore' with { type: 'text' }
import anjuta from 'gitignr/gitignore/Global/Anjuta.gitignore' with { type: 'text' }
import ansible from 'gitignr/gitignore/Global/Ansible.gitignore' with { type: 'text' }
import archives from 'gitignr/gitignore/Global/Archives.gitignore' with { type: 'text' }
import backup from 'gitignr/gitignore/Global/Backup.gitignore' with { type: 'text' }
import bazaar from 'gitignr/gitignore/Global/Bazaar.gitignore' with { type: 'text' }
import bricxCC from 'gitignr/gitignore/Global/BricxCC.gitignore' with { type: 'text' }
import calabash from 'gitignr/gitignore/Global/Calabash.gitignore' with { type: 'text' }
import cloud9 from 'gitignr/gitignore/Global/Cloud9.gitignore' with { type: 'text' }
import codeKit from 'gitignr/gitignore/Global/CodeKit.gitignore' with { type: 'text' }
import cVS from 'gitignr/gitignore/Global/CVS.gitignore' with { type: 'text' }
import dartEditor from 'gitignr/gitignore/Global/DartEditor.gitignore' with { type: 'text' }
import diff from 'gitignr/gitignore/Global/Diff.gitignore' with { type: 'text' }
import dreamweaver from 'gitignr/gitignore/Global/Dreamweaver.gitignore' with { type: 'text' }
import dropbox from 'gitignr/gitignore/Global/Dropbox.gitignore' with { type: 'text' }
import eclipse from 'gitignr/gitignore/Global/Eclipse.gitignore' with { type: 'text' }
import eiffelStudio from 'gitignr/gitignore/Global/EiffelStudio.gitignore' with { type: 'text' }
import emacs from 'gitignr/gitignore/Global/Emacs.gitignore' with { type: 'text' }
import ensime from 'gitignr/gitignore/Global/Ensime.gitignore' with { type: 'text' }
import espresso from 'gitignr/gitignore/Global/Espresso.gitignore' with { type: 'text' }
import flexBuilder from 'gitignr/gitignore/Global/FlexBuilder.gitignore' with { type: 'text' }
import gPG from 'gitignr/gitignore/Global/GPG.gitignore' with { type: 'text' }
import images from 'gitignr/gitignore/Global/Images.gitignore' with { type: 'text' }
import jDeveloper from 'gitignr/gitignore/Global/JDeveloper.gitignore' with { type: 'text' }
import jEnv from 'gitignr/gitignore/Global/JEnv.gitignore' with { type: 'text' }
import jetBrains from 'gitignr/gitignore/Global/JetBrains.gitignore' with { type: 'text' }
import kate from 'gitignr/gitignore/Global/Kate.gitignore' with { type: 'text' }
import kDevelop4 from 'gitignr/gitignore/Global/KDevelop4.gitignore' with { type: 'text' }
import lazarus from 'gitignr/gitignore/Global/Lazarus.gitignore' with { type: 'text' }
import libreOffice from 'gitignr/gitignore/Global/LibreOffice.gitignore' with { type: 'text' }
import linux from 'gitignr/gitignore/Global/Linux.gitignore' with { type: 'text' }
import lyX from 'gitignr/gitignore/Global/LyX.gitignore' with { type: 'text' }
import mATLAB from 'gitignr/gitignore/Global/MATLAB.gitignore' with { type: 'text' }
import mercurial from 'gitignr/gitignore/Global/Mercurial.gitignore' with { type: 'text' }
import metals from 'gitignr/gitignore/Global/Metals.gitignore' with { type: 'text' }
import microsoftOffice from 'gitignr/gitignore/Global/MicrosoftOffice.gitignore' with { type: 'text' }
import modelSim from 'gitignr/gitignore/Global/ModelSim.gitignore' with { type: 'text' }
import momentics from 'gitignr/gitignore/Global/Momentics.gitignore' with { type: 'text' }
import monoDevelop from 'gitignr/gitignore/Global/MonoDevelop.gitignore' with { type: 'text' }
import macOS from 'gitignr/gitignore/Global/macOS.gitignore' with { type: 'text' }
import netBeans from 'gitignr/gitignore/Global/NetBeans.gitignore' with { type: 'text' }
import ninja from 'gitignr/gitignore/Global/Ninja.gitignore' with { type: 'text' }
import notepadPP from 'gitignr/gitignore/Global/NotepadPP.gitignore' with { type: 'text' }
import otto from 'gitignr/gitignore/Global/Otto.gitignore' with { type: 'text' }
import patch from 'gitignr/gitignore/Global/Patch.gitignore' with { type: 'text' }
import pSoCCreator from 'gitignr/gitignore/Global/PSoCCreator.gitignore' with { type: 'text' }
import puTTY from 'gitignr/gitignore/Global/PuTTY.gitignore' with { type: 'text' }
import redcar from 'gitignr/gitignore/Global/Redcar.gitignore' with { type: 'text' }
import redis from 'gitignr/gitignore/Global/Redis.gitignore' with { type: 'text' }
import sBT from 'gitignr/gitignore/Global/SBT.gitignore' with { type: 'text' }
import slickEdit from 'gitignr/gitignore/Global/SlickEdit.gitignore' with { type: 'text' }
import stata from 'gitignr/gitignore/Global/Stata.gitignore' with { type: 'text' }
import sublimeText from 'gitignr/gitignore/Global/SublimeText.gitignore' with { type: 'text' }
import sVN from 'gitignr/gitignore/Global/SVN.gitignore' with { type: 'text' }
import syncthing from 'gitignr/gitignore/Global/Syncthing.gitignore' with { type: 'text' }
import synopsysVCS from 'gitignr/gitignore/Global/SynopsysVCS.gitignore' with { type: 'text' }
import tags from 'gitignr/gitignore/Global/Tags.gitignore' with { type: 'text' }
import textMate from 'gitignr/gitignore/Global/TextMate.gitignore' with { type: 'text' }
import tortoiseGit from 'gitignr/gitignore/Global/TortoiseGit.gitignore' with { type: 'text' }
import vagrant from 'gitignr/gitignore/Global/Vagrant.gitignore' with { type: 'text' }
import vim from 'gitignr/gitignore/Global/Vim.gitignore' with { type: 'text' }
import virtualEnv from 'gitignr/gitignore/Global/VirtualEnv.gitignore' with { type: 'text' }
import virtuoso from 'gitignr/gitignore/Global/Virtuoso.gitignore' with { type: 'text' }
import visualStudioCode from 'gitignr/gitignore/Global/VisualStudioCode.gitignore' with { type: 'text' }
import webMethods from 'gitignr/gitignore/Global/WebMethods.gitignore' with { type: 'text' }
import windows from 'gitignr/gitignore/Global/Windows.gitignore' with { type: 'text' }
import xcode from 'gitignr/gitignore/Global/Xcode.gitignore' with { type: 'text' }
import xilinxISE from 'gitignr/gitignore/Global/XilinxISE.gitignore' with { type: 'text' }
import go from 'gitignr/gitignore/Go.gitignore' with { type: 'text' }
import godot from 'gitignr/gitignore/Godot.gitignore' with { type: 'text' }
import gradle from 'gitignr/gitignore/Gradle.gitignore' with { type: 'text' }
import grails from 'gitignr/gitignore/Grails.gitignore' with { type: 'text' }
import gWT from 'gitignr/gitignore/GWT.gitignore' with { type: 'text' }
import haskell from 'gitignr/gitignore/Haskell.gitignore' with { type: 'text' }
import idris from 'gitignr/gitignore/Idris.gitignore' with { type: 'text' }
import iGORPro from 'gitignr/gitignore/IGORPro.gitignore' with { type: 'text' }
import java from 'gitignr/gitignore/Java.gitignore' with { type: 'text' }
import jBoss from 'gitignr/gitignore/JBoss.gitignore' with { type: 'text' }
import jENKINS_HOME from 'gitignr/gitignore/JENKINS_HOME.gitignore' with { type: 'text' }
import jekyll from 'gitignr/gitignore/Jekyll.gitignore' with { type: 'text' }
import joomla from 'gitignr/gitignore/Joomla.gitignore' with { type: 'text' }
import julia from 'gitignr/gitignore/Julia.gitignore' with { type: 'text' }
import kiCad from 'gitignr/gitignore/KiCad.gitignore' with { type: 'text' }
import kohana from 'gitignr/gitignore/Kohana.gitignore' with { type: 'text' }
import labVIEW from 'gitignr/gitignore/LabVIEW.gitignore' with { type: 'text' }
import laravel from 'gitignr/gitignore/Laravel.gitignore' with { type: 'text' }
import leiningen from 'gitignr/gitignore/Leiningen.gitignore' with { type: 'text' }
import lemonStand from 'gitignr/gitignore/LemonStand.gitignore' with { type: 'text' }
import lilypond from 'gitignr/gitignore/Lilypond.gitignore' with { type: 'text' }
import lithium from 'gitignr/gitignore/Lithium.gitignore' with { type: 'text' }
import lua from 'gitignr/gitignore/Lua.gitignore' with { type: 'text' }
import magento from 'gitignr/gitignore/Magento.gitignore' with { type: 'text' }
import maven from 'gitignr/gitignore/Maven.gitignore' with { type: 'text' }
import mercury from 'gitignr/gitignore/Mercury.gitignore' with { type: 'text' }
import metaProgrammingSystem from 'gitignr/gitignore/MetaProgrammingSystem.gitignore' with { type: 'text' }
import nanoc from 'gitignr/gitignore/Nanoc.gitignore' with { type: 'text' }
import nim from 'gitignr/gitignore/Nim.gitignore' with { type: 'text' }
import node from 'gitignr/gitignore/Node.gitignore' with { type: 'text' }
import objectiveC from 'gitignr/gitignore/Objective-C.gitignore' with { type: 'text' }
import oCaml from 'gitignr/gitignore/OCaml.gitignore' with { type: 'text' }
import opa from 'gitignr/gitignore/Opa.gitignore' with { type: 'text' }
import openCart from 'gitignr/gitignore/OpenCart.gitignore' with { type: 'text' }
import oracleForms from 'gitignr/gitignore/OracleForms.gitignore' with { type: 'text' }
import packer from 'gitignr/gitignore/Packer.gitignore' with { type: 'text' }
import perl from 'gitignr/gitignore/Perl.gitignore' with { type: 'text' }
import phalcon from 'gitignr/gitignore/Phalcon.gitignore' with { type: 'text' }
import playFramework from 'gitignr/gitignore/PlayFramework.gitignore' with { type: 'text' }
import plone from 'gitignr/gitignore/Plone.gitignore' with { type: 'text' }
import prestashop from 'gitignr/gitignore/Prestashop.gitignore' with { type: 'text' }
import processing from 'gitignr/gitignore/Processing.gitignore' with { type: 'text' }
import pureScript from 'gitignr/gitignore/PureScript.gitignore' with { type: 'text' }
import python from 'gitignr/gitignore/Python.gitignore' with { type: 'text' }
import qooxdoo from 'gitignr/gitignore/Qooxdoo.gitignore' with { type: 'text' }
import qt from 'gitignr/gitignore/Qt.gitignore' with { type: 'text' }
import r from 'gitignr/gitignore/R.gitignore' with { type: 'text' }
import racket from 'gitignr/gitignore/Racket.gitignore' with { type: 'text' }
import rails from 'gitignr/gitignore/Rails.gitignore' with { type: 'text' }
import raku from 'gitignr/gitignore/Raku.gitignore' with { type: 'text' }
import rhodesRhomobile from 'gitignr/gitignore/RhodesRhomobile.gitignore' with { type: 'text' }
import rOS from 'gitignr/gitignore/ROS.gitignore' with { type: 'text' }
import ruby from 'gitignr/gitignore/Ruby.gitignore' with { type: 'text' }
import rust from 'gitignr/gitignore/Rust.gitignore' with { type: 'text' }
import sass from 'gitignr/gitignore/Sass.gitignore' with { type: 'text' }
import sCons from 'gitignr/gitignore/SCons.gitignore' with { type: 'text' }
import scala from 'gitignr/gitignore/Scala.gitignore' with { type: 'text' }
import scheme from 'gitignr/gitignore/Scheme.gitignore' with { type: 'text' }
import scrivener from 'gitignr/gitignore/Scrivener.gitignore' with { type: 'text' }
import sdcc from 'gitignr/gitignore/Sdcc.gitignore' with { type: 'text' }
import seamGen from 'gitignr/gitignore/SeamGen.gitignore' with { type: 'text' }
import sketchUp from 'gitignr/gitignore/SketchUp.gitignore' with { type: 'text' }
import smalltalk from 'gitignr/gitignore/Smalltalk.gitignore' with { type: 'text' }
import stella from 'gitignr/gitignore/Stella.gitignore' with { type: 'text' }
import sugarCRM from 'gitignr/gitignore/SugarCRM.gitignore' with { type: 'text' }
import swift from 'gitignr/gitignore/Swift.gitignore' with { type: 'text' }
import symfony from 'gitignr/gitignore/Symfony.gitignore' with { type: 'text' }
import symphonyCMS from 'gitignr/gitignore/SymphonyCMS.gitignore' with { type: 'text' }
import terraform from 'gitignr/gitignore/Terraform.gitignore' with { type: 'text' }
import teX from 'gitignr/gitignore/TeX.gitignore' with { type: 'text' }
import textpattern from 'gitignr/gitignore/Textpattern.gitignore' with { type: 'text' }
import turboGears2 from 'gitignr/gitignore/TurboGears2.gitignore' with { type: 'text' }
import twinCAT3 from 'gitignr/gitignore/TwinCAT3.gitignore' with { type: 'text' }
import typo3 from 'gitignr/gitignore/Typo3.gitignore' with { type: 'text' }
import unity from 'gitignr/gitignore/Unity.gitignore' with { type: 'text' }
import unrealEngine from 'gitignr/gitignore/UnrealEngine.gitignore' with { type: 'text' }
import visualStudio from 'gitignr/gitignore/VisualStudio.gitignore' with { type: 'text' }
import vVVV from 'gitignr/gitignore/VVVV.gitignore' with { type: 'text' }
import waf from 'gitignr/gitignore/Waf.gitignore' with { type: 'text' }
import wordPress from 'gitignr/gitignore/WordPress.gitignore' with { type: 'text' }
import xojo from 'gitignr/gitignore/Xojo.gitignore' with { type: 'text' }
import yeoman from 'gitignr/gitignore/Yeoman.gitignore' with { type: 'text' }
import yii from 'gitignr/gitignore/Yii.gitignore' with { type: 'text' }
import zendFramework from 'gitignr/gitignore/ZendFramework.gitignore' with { type: 'text' }
import zephir from 'gitignr/gitignore/Zephir.gitignore' with { type: 'text' }

/** Text by name, in byte order. */
// biome-ignore format: one name a line would double the length of the table
export const GITIGNORES: ReadonlyMap<string, string> = new Map([
  ['AL', aL], ['Actionscript', actionscript], ['Ada', ada], ['Agda', agda], ['Android', android], ['Anjuta', anjuta],
  ['Ansible', ansible], ['AppEngine', appEngine], ['AppceleratorTitanium', appceleratorTitanium],
  ['ArchLinuxPackages', archLinuxPackages], ['Archives', archives], ['Autotools', autotools], ['Backup', backup],
  ['Bazaar', bazaar], ['BricxCC', bricxCC], ['C', c], ['C++', cpp], ['CFWheels', cFWheels], ['CMake', cMake],
  ['CUDA', cUDA], ['CVS', cVS], ['CakePHP', cakePHP], ['Calabash', calabash], ['ChefCookbook', chefCookbook],
  ['Clojure', leiningen], ['Cloud9', cloud9], ['CodeIgniter', codeIgniter], ['CodeKit', codeKit],
  ['CommonLisp', commonLisp], ['Composer', composer], ['Concrete5', concrete5], ['Coq', coq], ['CraftCMS', craftCMS],
  ['D', d], ['DM', dM], ['Dart', dart], ['DartEditor', dartEditor], ['Delphi', delphi], ['Diff', diff],
  ['Dreamweaver', dreamweaver], ['Dropbox', dropbox], ['Drupal', drupal], ['EPiServer', ePiServer], ['Eagle', eagle],
  ['Eclipse', eclipse], ['EiffelStudio', eiffelStudio], ['Elisp', elisp], ['Elixir', elixir], ['Elm', elm],
  ['Emacs', emacs], ['Ensime', ensime], ['Erlang', erlang], ['Espresso', espresso],
  ['ExpressionEngine', expressionEngine], ['ExtJs', extJs], ['Fancy', fancy], ['Finale', finale],
  ['FlaxEngine', flaxEngine], ['FlexBuilder', flexBuilder], ['ForceDotCom', forceDotCom], ['Fortran', cpp],
  ['FuelPHP', fuelPHP], ['GPG', gPG], ['GWT', gWT], ['Gcov', gcov], ['GitBook', gitBook], ['Go', go],
  ['Godot', godot], ['Gradle', gradle], ['Grails', grails], ['Haskell', haskell], ['IGORPro', iGORPro],
  ['Idris', idris], ['Images', images], ['JBoss', jBoss], ['JDeveloper', jDeveloper], ['JENKINS_HOME', jENKINS_HOME],
  ['JEnv', jEnv], ['Java', java], ['Jekyll', jekyll], ['JetBrains', jetBrains], ['Joomla', joomla], ['Julia', julia],
  ['KDevelop4', kDevelop4], ['Kate', kate], ['KiCad', kiCad], ['Kohana', kohana], ['Kotlin', java],
  ['LabVIEW', labVIEW], ['Laravel', laravel], ['Lazarus', lazarus], ['Leiningen', leiningen],
  ['LemonStand', lemonStand], ['LibreOffice', libreOffice], ['Lilypond', lilypond], ['Linux', linux],
  ['Lithium', lithium], ['Lua', lua], ['LyX', lyX], ['MATLAB', mATLAB], ['Magento', magento], ['Maven', maven],
  ['Mercurial', mercurial], ['Mercury', mercury], ['MetaProgrammingSystem', metaProgrammingSystem],
  ['Metals', metals], ['MicrosoftOffice', microsoftOffice], ['ModelSim', modelSim], ['Momentics', momentics],
  ['MonoDevelop', monoDevelop], ['Nanoc', nanoc], ['NetBeans', netBeans], ['Nim', nim], ['Ninja', ninja],
  ['Node', node], ['NotepadPP', notepadPP], ['OCaml', oCaml], ['Objective-C', objectiveC], ['Octave', mATLAB],
  ['Opa', opa], ['OpenCart', openCart], ['OracleForms', oracleForms], ['Otto', otto], ['PSoCCreator', pSoCCreator],
  ['Packer', packer], ['Patch', patch], ['Perl', perl], ['Phalcon', phalcon], ['PlayFramework', playFramework],
  ['Plone', plone], ['Prestashop', prestashop], ['Processing', processing], ['PuTTY', puTTY],
  ['PureScript', pureScript], ['Python', python], ['Qooxdoo', qooxdoo], ['Qt', qt], ['R', r], ['ROS', rOS],
  ['Racket', racket], ['Rails', rails], ['Raku', raku], ['Redcar', redcar], ['Redis', redis],
  ['RhodesRhomobile', rhodesRhomobile], ['Ruby', ruby], ['Rust', rust], ['SBT', sBT], ['SCons', sCons], ['SVN', sVN],
  ['Sass', sass], ['Scala', scala], ['Scheme', scheme], ['Scrivener', scrivener], ['Sdcc', sdcc],
  ['SeamGen', seamGen], ['SketchUp', sketchUp], ['SlickEdit', slickEdit], ['Smalltalk', smalltalk], ['Stata', stata],
  ['Stella', stella], ['SublimeText', sublimeText], ['SugarCRM', sugarCRM], ['Swift', swift], ['Symfony', symfony],
  ['SymphonyCMS', symphonyCMS], ['Syncthing', syncthing], ['SynopsysVCS', synopsysVCS], ['Tags', tags], ['TeX', teX],
  ['Terraform', terraform], ['TextMate', textMate], ['Textpattern', textpattern], ['TortoiseGit', tortoiseGit],
  ['TurboGears2', turboGears2], ['TwinCAT3', twinCAT3], ['Typo3', typo3], ['Unity', unity],
  ['UnrealEngine', unrealEngine], ['VVVV', vVVV], ['Vagrant', vagrant], ['Vim', vim], ['VirtualEnv', virtualEnv],
  ['Virtuoso', virtuoso], ['VisualStudio', visualStudio], ['VisualStudioCode', visualStudioCode], ['Waf', waf],
  ['WebMethods', webMethods], ['Windows', windows], ['WordPress', wordPress], ['Xcode', xcode],
  ['XilinxISE', xilinxISE], ['Xojo', xojo], ['Yeoman', yeoman], ['Yii', yii], ['ZendFramework', zendFramework],
  ['Zephir', zephir], ['macOS', macOS],
])
